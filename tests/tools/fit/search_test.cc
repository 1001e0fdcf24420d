// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "base/status_macros.h"

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A program that fits if a trial's changes include one of the sets of names. Hooks in `inert` find
// nothing to change.
class Program {
 public:
  explicit Program(std::vector<std::set<std::string>> fits) : fits_(std::move(fits)) {}

  Program& Inert(const std::string& hook) {
    inert_.insert(hook);
    return *this;
  }
  // The program gets further with this hook.
  Program& GetsFurtherBy(const std::string& hook) {
    further_ = hook;
    return *this;
  }
  Program& Lacks(const std::string& package, const std::string& hook) {
    missing_[hook] = package;
    return *this;
  }
  Program& EndsBy(int exit_code) {
    exit_code_ = exit_code;
    return *this;
  }
  Program& EndsOnTheCardBy(int exit_code) {
    is_on_card_ = true;
    return EndsBy(exit_code);
  }

  // Each run is stopped before this moment of the job.
  Program& IsStoppedBefore(const std::string& moment) {
    unseen_ = moment;
    return *this;
  }

  absl::StatusOr<Outcome> Run(const Trial& trial, std::string_view name) {
    ran_.emplace_back(name);
    Outcome outcome;
    if (!unseen_.empty()) {
      outcome.outlook.is_whole = false;
      outcome.gaps = {{.moment = unseen_, .evidence = "train.py:61 calls eval().", .why_not = ""}};
    }
    ProcessNeed& process = outcome.processes.emplace_back();
    process.cards.push_back({.card = 0, .peak_at = {}, .parts = {}});
    for (const char* hook : {"fused", "loop", "freeze", "checkpoint", "adam8bit", "bf16"})
      outcome.annotations[std::string("fit.changed.") + hook] = inert_.contains(hook) ? "0" : "2";
    for (const auto& [hook, package] : missing_)
      outcome.annotations["fit.missing." + hook] = package;
    if (exit_code_ != 0 && !(is_on_card_ && name == "without a limit")) {
      outcome.exit_code = exit_code_;
      return outcome;
    }
    outcome.completed = name == "without a limit" || Fits(trial);
    if (!outcome.completed) {
      outcome.exit_code = 1;
      outcome.edits = {{.name = "do not keep", .change = "", .cost = "", .package = ""}};
      process.failed = FailedLine{.line = "train.py:3", .bytes = 100, .short_by = 10, .at = {}};
      if (absl::StrContains(trial.changes, further_)) process.failed->at.step = 1;
    }
    return outcome;
  }

  absl::StatusOr<Answer> Ask(const Question& question) {
    Search search(question,
                  [this](const Trial& trial, std::string_view name) { return Run(trial, name); });
    MEMTRACE_RETURN_IF_ERROR(search.Run());
    return search.answer();
  }

  const std::vector<std::string>& ran() const { return ran_; }

 private:
  bool Fits(const Trial& trial) const {
    const auto has = [&trial](const std::string& word) {
      const auto settings = trial.set.find("PYTORCH_CUDA_ALLOC_CONF");
      return absl::StrContains("," + trial.changes + ",", "," + word + ",") ||
             trial.allocator == word || trial.command.back() == word ||
             (settings != trial.set.end() && absl::StrContains(settings->second, word));
    };
    return std::any_of(fits_.begin(), fits_.end(), [&has](const std::set<std::string>& words) {
      return std::all_of(words.begin(), words.end(), has);
    });
  }

  std::vector<std::set<std::string>> fits_;
  std::set<std::string> inert_;
  std::map<std::string, std::string> missing_;  // the packages of hooks
  std::string further_ = "nothing";
  int exit_code_ = 0;
  bool is_on_card_ = false;  // it ends by it only there
  std::string unseen_;       // a moment of the job that no run comes to
  std::vector<std::string> ran_;
};

Question Asked() {
  Question question;
  question.trial.command = {"python", "train.py"};
  question.trial.cards = {"24GiB"};
  return question;
}

std::string Recommended(const Answer& answer) {
  std::string name;
  if (!answer.recommended) return "nothing";
  for (const Candidate& change : answer.remedies[*answer.recommended].changes)
    name += (name.empty() ? "" : " + ") + change.name;
  return name;
}

TEST(SearchTest, FittingProgramNeedsNoRemedies) {
  Program program({std::set<std::string>()});
  const Answer answer = *program.Ask(Asked());
  EXPECT_TRUE(answer.fits());
  EXPECT_THAT(program.ran(), ElementsAre("without a limit", "on the card"));
}

TEST(SearchTest, ProgramThatEndsWithoutAKnownReasonDoesNotEndWhateverTheCard) {
  const std::string card = Program({}).EndsOnTheCardBy(1).Ask(Asked()).status().ToString();
  EXPECT_THAT(card, testing::HasSubstr("on this card the program ends with exit code 1"));
  const std::string whatever = Program({}).EndsBy(1).Ask(Asked()).status().ToString();
  EXPECT_THAT(whatever, testing::HasSubstr("by itself, whatever the card"));
}

TEST(SearchTest, SmallestFittingChangeIsRecommended) {
  Program program({{"checkpoint"}, {"bf16"}, {"fused"}});
  EXPECT_EQ(Recommended(*program.Ask(Asked())), "fused optimizer");
}

TEST(SearchTest, TwoCheapChangesArePreferredToOneCostly) {
  Program program({{"bf16"}, {"expandable", "fused"}});
  EXPECT_EQ(Recommended(*program.Ask(Asked())), "expandable segments + fused optimizer");
}

TEST(SearchTest, NoCostlierCombinationIsTriedIfAChangeFits) {
  Program program({{"memtrace"}});
  const Answer answer = *program.Ask(Asked());
  EXPECT_EQ(Recommended(answer), "memtrace's allocator");
  for (const TriedRemedy& remedy : answer.remedies) EXPECT_EQ(remedy.changes.size(), 1U);
}

TEST(SearchTest, BestChangeIsPartOfEveryCombination) {
  Program program({std::set<std::string>{"checkpoint", "adam8bit"}});
  program.GetsFurtherBy("checkpoint");
  const Answer answer = *program.Ask(Asked());
  EXPECT_EQ(Recommended(answer), "gradient checkpointing + 8-bit optimizer");
  for (const TriedRemedy& remedy : answer.remedies)
    EXPECT_TRUE(remedy.changes.size() == 1 || remedy.changes[0].hook == "checkpoint");
}

TEST(SearchTest, ThirdChangeIsAddedToTheBestPair) {
  Program program({std::set<std::string>{"checkpoint", "fused", "bf16"}});
  program.GetsFurtherBy("checkpoint");
  EXPECT_EQ(program.Ask(Asked())->remedies.back().changes.size(), 3U);
}

TEST(SearchTest, ChangeWithoutEffectIsNotARemedy) {
  Program program({{"adam8bit"}});
  program.Inert("adam8bit");
  const Answer answer = *program.Ask(Asked());
  EXPECT_EQ(Recommended(answer), "nothing");
}

TEST(SearchTest, ChangeWhosePackageIsMissingIsNotRun) {
  Program program({{"adam8bit"}});
  program.Lacks("bitsandbytes", "adam8bit");
  const Answer answer = *program.Ask(Asked());
  EXPECT_EQ(Recommended(answer), "nothing");
  EXPECT_THAT(program.ran(), Not(testing::Contains("8-bit optimizer")));
  ASSERT_EQ(answer.untried.size(), 2U);
  EXPECT_EQ(answer.untried[0].name, "do not keep");
  EXPECT_EQ(answer.untried[1].name, "8-bit optimizer");
  EXPECT_EQ(answer.untried[1].package, "bitsandbytes");
}

TEST(SearchTest, FittingProgramHasNothingUntried) {
  Program program({std::set<std::string>()});
  program.Lacks("bitsandbytes", "adam8bit");
  EXPECT_THAT(program.Ask(Asked())->untried, IsEmpty());
}

TEST(SearchTest, ValuesOfAnOptionAreTriedUntilOneFits) {
  Program program({{"2"}});
  Question question = Asked();
  question.trial.command.push_back("{n}");
  question.variations = {{.name = "n", .values = {"8", "4", "2", "1"}}};
  EXPECT_EQ(Recommended(*program.Ask(question)), "n=2");
  EXPECT_THAT(program.ran(), testing::Contains("n=4"));
  EXPECT_THAT(program.ran(), Not(testing::Contains("n=1")));
}

Question AskedForLargest() {
  Question question = Asked();
  question.trial.command.push_back("{batch}");
  question.largest = LargestOption{.name = "batch", .step = 1};
  return question;
}

TEST(SearchTest, LargestValueThatCameToTheEndFits) {
  const Answer answer = *Program({std::set<std::string>()}).Ask(AskedForLargest());
  EXPECT_TRUE(answer.scalings.front().largest.has_value());
  EXPECT_THAT(answer.gaps, IsEmpty());
  EXPECT_EQ(answer.verdict(), FitVerdict::kFits);
}

TEST(SearchTest, LargestValueIsNotKnownToFitIfAMomentWasNotSeen) {
  Question question = AskedForLargest();
  for (const bool whole_job : {false, true}) {
    question.whole_job = whole_job;
    Program program({std::set<std::string>()});
    const Answer answer = *program.IsStoppedBefore("evaluation").Ask(question);
    EXPECT_TRUE(answer.scalings.front().largest.has_value());
    ASSERT_EQ(answer.gaps.size(), 1U) << whole_job;
    EXPECT_EQ(answer.gaps[0].moment, "evaluation");
    EXPECT_EQ(answer.gaps[0].why_not.empty(), !whole_job);
    EXPECT_EQ(answer.verdict(), FitVerdict::kNotKnown) << whole_job;
  }
}

constexpr uint64_t kSearchMiB = uint64_t{1} << 20;

// Runs a job whose usual steps need 10 MiB a row and whose evaluation, in step 4, needs 30.
absl::StatusOr<Outcome> RunEvaluated(const Trial& trial, std::string_view /*name*/) {
  const uint64_t rows = std::stoull(trial.command.back());
  const uint64_t usual = 10 * rows * kSearchMiB;
  const uint64_t most = trial.moments == "job" ? 3 * usual : usual;
  Outcome outcome;
  ProcessNeed& process = outcome.processes.emplace_back();
  CardNeed& card = process.cards.emplace_back();
  card.total = card.peak_allocated = card.peak_reserved = most;
  outcome.completed = most <= CardBytesOf(trial).front();
  if (most > usual)
    process.moments = {
        {.stay = {.moment = "evaluation", .first = 4, .last = 4}, .needs = most, .holder = {}}};
  if (outcome.completed) return outcome;
  outcome.exit_code = 1;
  process.failed = FailedLine{.line = "train.py:9", .bytes = most, .short_by = 1, .at = {}};
  process.failed->at.step = most > usual ? 4 : 2;
  if (most > usual) process.moments.front().stay.ended_by = "OutOfMemoryError";
  return outcome;
}

absl::StatusOr<Answer> AskedForLargestOfWholeJob(const std::string& card) {
  Question question = AskedForLargest();
  question.trial.cards = {card};
  question.whole_job = true;
  Search search(question, RunEvaluated);
  MEMTRACE_RETURN_IF_ERROR(search.Run());
  return search.answer();
}

TEST(SearchTest, LargestValueOfAWholeJobHasItsMomentsAndTheOneThatLimitsIt) {
  const Answer answer = *AskedForLargestOfWholeJob("100MiB,context=0MiB");
  EXPECT_EQ(answer.scalings.front().largest, 3U);
  EXPECT_EQ(answer.verdict(), FitVerdict::kFits);
  ASSERT_TRUE(answer.whole_job.has_value());
  ASSERT_EQ(answer.whole_job->moments.size(), 2U);
  EXPECT_EQ(answer.whole_job->moments[0].moment, "step");
  EXPECT_EQ(answer.whole_job->moments[0].needs, 30 * kSearchMiB);
  EXPECT_EQ(answer.whole_job->moments[1].moment, "evaluation");
  EXPECT_EQ(answer.whole_job->moments[1].needs, 90 * kSearchMiB);
  EXPECT_EQ(answer.whole_job->moments[1].fits, true);
  ASSERT_TRUE(answer.whole_job->limited_by.has_value());
  EXPECT_EQ(answer.whole_job->limited_by->moment, "evaluation");
  EXPECT_EQ(answer.whole_job->limited_by->line, "train.py:9");
}

TEST(SearchTest, MomentFailsIfNoValueFitsAWholeJob) {
  const Answer answer = *AskedForLargestOfWholeJob("20MiB,context=0MiB");
  EXPECT_FALSE(answer.scalings.front().largest.has_value());
  EXPECT_EQ(answer.verdict(), FitVerdict::kDoesNotFit);
  const MomentNeed* failed = FailedMomentOf(answer.whole_job->moments);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->moment, "evaluation");
  EXPECT_EQ(failed->needs, 30 * kSearchMiB);
  EXPECT_EQ(answer.whole_job->moments[0].fits, true);
}

TEST(SearchTest, WithoutRemediesOnlyTheVerdictIsReturned) {
  Program program({});
  Question question = Asked();
  question.with_remedies = false;
  const Answer answer = *program.Ask(question);
  EXPECT_FALSE(answer.fits());
  EXPECT_EQ(answer.within.Failed()->line, "train.py:3");
  EXPECT_THAT(answer.remedies, IsEmpty());
}

TEST(SearchTest, ProgramThatFailsByItselfIsAnError) {
  Program program({});
  program.EndsBy(7);
  const absl::Status why = program.Ask(Asked()).status();
  EXPECT_EQ(why.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(why.message()), HasSubstr("exit code 7 by itself"));
}

TEST(SearchTest, NumberOfCombinationsIsLimited) {
  Program program({});
  const Answer answer = *program.Ask(Asked());
  EXPECT_EQ(Recommended(answer), "nothing");
  EXPECT_LE(program.ran().size(), 3 + AllCandidates().size() + 10);
}

}  // namespace
}  // namespace memtrace::fit
