// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/resumed_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace memtrace::fit {
namespace {

using testing::ElementsAre;

std::filesystem::path FileWith(const std::string& text) {
  const std::filesystem::path file = testing::TempDir() + "/checkpoint.json";
  std::ofstream(file) << text;
  return file;
}

Trial JobTrial() {
  Trial trial;
  trial.command = {"python", "train.py"};
  trial.moments = "job";
  trial.resumes = true;
  return trial;
}

TEST(ResumedTrialTest, FrameworkResumesByItsOwnWay) {
  const auto file = FileWith(R"({"kind": "transformers", "path": "/out/checkpoint-3"})");
  const std::optional<Trial> then = ResumedTrial(JobTrial(), file);
  ASSERT_TRUE(then);
  EXPECT_EQ(then->moments, "resume");
  EXPECT_THAT(then->command, ElementsAre("python", "train.py"));
  EXPECT_FALSE(then->resumes);
}

TEST(ResumedTrialTest, ScriptResumesOnlyByTheCommandThatIsGiven) {
  const auto file = FileWith(R"({"kind": "other", "path": "/out/state.pt"})");
  Trial trial = JobTrial();
  EXPECT_FALSE(ResumedTrial(trial, file));
  trial.resumed_by = "python train.py --resume '{checkpoint}'";
  const std::optional<Trial> then = ResumedTrial(trial, file);
  ASSERT_TRUE(then);
  EXPECT_EQ(then->moments, "");
  EXPECT_THAT(then->command, ElementsAre("python", "train.py", "--resume", "/out/state.pt"));
}

TEST(ResumedTrialTest, NothingResumesWithoutACheckpoint) {
  EXPECT_FALSE(ResumedTrial(JobTrial(), "/nowhere/checkpoint.json"));
  EXPECT_FALSE(ResumedTrial(JobTrial(), FileWith("[1, 2]")));
}

TEST(ResumedTrialTest, BlanksInQuotesDoNotSplitWords) {
  EXPECT_THAT(WordsOf(R"( python  "my train.py" --name='' )"),
              ElementsAre("python", "my train.py", "--name="));
}

}  // namespace
}  // namespace memtrace::fit
