// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/saved_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tools/fit/changes/script_version.h"

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SavedChangesTest : public testing::Test {
 protected:
  SavedChangesTest() { std::filesystem::create_directories(folder_); }
  ~SavedChangesTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string file = folder_ / name;
    std::ofstream(file) << text;
    return file;
  }

  std::string Refusal(const std::string& text) const {
    return std::string(ReadSavedChanges(Write("fit.json", text)).status().message());
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "memtrace-saved-changes";
};

Question AskedWithOptions() {
  Question question;
  question.trial.command = {"python", "train.py", "--batch", "{batch}"};
  question.trial.cards = {"24GiB"};
  question.variations = {{.name = "batch", .values = {"8", "4"}}};
  return question;
}

Answer Recommending(std::vector<Candidate> changes) {
  Answer answer;
  TriedRemedy& remedy = answer.remedies.emplace_back();
  remedy.changes = std::move(changes);
  remedy.outcome.program = {.script = "train.py", .script_version = "abc", .torch = "2.11.0+cu130"};
  remedy.outcome.annotations = {
      {"fit.changed.checkpoint",
       R"({"places":12,"of":32,"target":"Layer","first":"model.layers.0"})"},
      {"fit.made.checkpoint", "backward:9"},
      {"fit.changed.fused", R"({"places":1,"of":1,"target":"AdamW","first":"train.py:41"})"},
      {"fit.package.transformers", "5.23.0"}};
  CardNeed& need = remedy.outcome.processes.emplace_back().cards.emplace_back();
  need.peak_allocated = 100;
  need.peak_reserved = 120;
  answer.recommended = 0;
  return answer;
}

// A change as the search makes it.
Candidate Hook(const std::string& hook, uint32_t degree = 0) {
  Candidate candidate{.name = hook, .change = "one line", .cost = "", .hook = hook};
  candidate.degree = degree;
  return candidate;
}

TEST_F(SavedChangesTest, FileHasWhatTheTrialSaw) {
  const Answer answer = Recommending({Hook("checkpoint", 9), Hook("fused")});
  const SavedChanges saved =
      *ReadSavedChanges(Write("fit.json", TextOf(SavedChangesOf(AskedWithOptions(), answer))));
  EXPECT_EQ(WordsOf(saved), "checkpoint=9,fused");
  EXPECT_EQ(saved.changes[0].by, "backward");
  EXPECT_EQ(saved.changes[0].places, 9u);  // at the first backward pass, not at the end
  EXPECT_EQ(saved.changes[0].of, 32u);
  EXPECT_EQ(saved.changes[0].target, "Layer");
  EXPECT_EQ(saved.changes[0].first, "model.layers.0");
  EXPECT_EQ(saved.changes[1].line, "train.py:41");
  EXPECT_EQ(saved.torch, "2.11.0+cu130");
  EXPECT_EQ(saved.packages.at("transformers"), "5.23.0");
  EXPECT_EQ(saved.allocator, "native");
  EXPECT_EQ(saved.peak_allocated, 100u);
  EXPECT_EQ(saved.peak_reserved, 120u);
  EXPECT_TRUE(saved.arguments.empty());  // they may hold secrets
}

TEST_F(SavedChangesTest, SettingsAndOptionsAreSaved) {
  Candidate segments{.name = "expandable segments", .change = "", .cost = ""};
  segments.settings = "expandable_segments:True";
  Candidate batch{.name = "batch=4", .change = "", .cost = ""};
  batch.option = "batch";
  batch.value = "4";
  const SavedChanges saved = SavedChangesOf(AskedWithOptions(), Recommending({segments, batch}));
  EXPECT_EQ(saved.settings.at("PYTORCH_CUDA_ALLOC_CONF"), "expandable_segments:True");
  EXPECT_THAT(saved.options, ElementsAre("batch=4"));
  EXPECT_THAT(saved.arguments, ElementsAre("python", "train.py", "--batch", "4"));
}

TEST_F(SavedChangesTest, OtherFilesSchemasAndChangesAreRefused) {
  EXPECT_THAT(Refusal("not JSON"), HasSubstr("is not a file that memtrace fit --save-plan wrote"));
  EXPECT_THAT(Refusal("{}"), HasSubstr("is not a file that memtrace fit --save-plan wrote"));
  EXPECT_THAT(Refusal(R"({"schema": "memtrace.changes/2"})"),
              HasSubstr("has the schema memtrace.changes/2, and this memtrace reads"));
  EXPECT_THAT(Refusal(R"({"schema": "memtrace.changes/1", "changes": [{"name": "quick"}]})"),
              HasSubstr("there is no change 'quick'; the changes are"));
}

TEST_F(SavedChangesTest, NamesMayHaveHyphensAndDegrees) {
  EXPECT_EQ(WordsOf(*ParseChanges("checkpointing=9,fused")), "checkpoint=9,fused");
  EXPECT_EQ(WordsOf(*ParseChanges("gradient-checkpointing,mean-resizing,8-bit-optimizer")),
            "checkpoint,mean_resizing,adam8bit");
  const SavedChanges segments = *ParseChanges("expandable-segments");
  EXPECT_EQ(WordsOf(segments), "");
  EXPECT_EQ(segments.allocator, "native");
  EXPECT_EQ(segments.settings.size(), 1u);
}

TEST_F(SavedChangesTest, WrongNamesAndDegreesAreRefused) {
  const auto refusal = [](std::string_view names) {
    return std::string(ParseChanges(names).status().message());
  };
  EXPECT_THAT(refusal("quick"), HasSubstr("there is no change 'quick'"));
  EXPECT_THAT(refusal("fused,"), HasSubstr("there is no change ''"));
  EXPECT_EQ(refusal("fused=2"), "'fused' takes no number");
  EXPECT_EQ(refusal("checkpoint=all"), "'all' of checkpoint is not a number from 1 on");
  EXPECT_EQ(refusal("checkpoint=0"), "'0' of checkpoint is not a number from 1 on");
}

TEST_F(SavedChangesTest, AnotherScriptOrVersionIsRefused) {
  const std::string script = Write("train.py", "import torch\n");
  SavedChanges saved{.script = "train.py", .script_version = ScriptVersion(script)};
  const auto refusal = [&](const std::vector<std::string>& command) {
    return std::string(CheckCommand(saved, "fit.json", command).message());
  };
  EXPECT_EQ(refusal({"python", script}), "");
  EXPECT_EQ(refusal({"torchrun", "--nproc-per-node", "2", script}), "");
  EXPECT_EQ(refusal({"python", "-m", "train"}), "");  // the process itself knows its file
  EXPECT_THAT(refusal({"python", Write("other.py", "import torch\n")}),
              HasSubstr("fit.json was made for train.py, and the command runs"));
  Write("train.py", "import torch  # edited\n");
  EXPECT_THAT(refusal({"python", script}), HasSubstr("was made for another version of"));
}

TEST_F(SavedChangesTest, OptionsOfTheTrialAreNeeded) {
  const SavedChanges saved{.arguments = {"python", "train.py", "--batch", "4"},
                           .options = {"batch=4"}};
  EXPECT_TRUE(CheckCommand(saved, "fit.json", {"/bin/python", "train.py", "--batch", "4"}).ok());
  EXPECT_EQ(CheckCommand(saved, "fit.json", {"python", "train.py", "--batch", "8"}).message(),
            "fit.json needs batch=4; run: python train.py --batch 4");
}

}  // namespace
}  // namespace memtrace::fit
