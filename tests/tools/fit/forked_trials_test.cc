// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/forked_trials.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

constexpr int kSeconds = 10;  // of a run

// Returns a run of one process that made some steps, whose peak rose in these.
Outcome RunOf(uint64_t steps, std::vector<PeakRise> rises, uint64_t reserved) {
  CardNeed card;
  card.peak_reserved = reserved;
  card.rises = std::move(rises);
  ProcessNeed process;
  process.steps = steps;
  process.cards = {card};
  Outcome outcome;
  outcome.completed = true;
  outcome.seconds = kSeconds;
  outcome.processes = {process};
  return outcome;
}

TEST(HasPeaksOfTest, ShorterRunIsComparedInItsSteps) {
  const Outcome started = RunOf(9, {{1, 100}, {2, 120}, {7, 130}}, 200);
  EXPECT_TRUE(HasPeaksOf(started, RunOf(9, {{1, 100}, {2, 120}, {7, 130}}, 200)));
  EXPECT_TRUE(HasPeaksOf(started, RunOf(3, {{1, 100}, {2, 120}}, 150)));
  EXPECT_FALSE(HasPeaksOf(started, RunOf(3, {{1, 100}, {2, 121}}, 150)));
  EXPECT_FALSE(HasPeaksOf(started, RunOf(3, {{1, 100}}, 150)));
}

TEST(HasPeaksOfTest, ReservedMemoryOfARunOfEqualLengthIsEqual) {
  const Outcome started = RunOf(3, {{1, 100}}, 200);
  EXPECT_FALSE(HasPeaksOf(started, RunOf(3, {{1, 100}}, 199)));
  EXPECT_FALSE(HasPeaksOf(started, RunOf(2, {{1, 100}}, 201)));
}

TEST(HasPeaksOfTest, LongerFailedOrOtherwiseSplitRunIsNotEqual) {
  const Outcome started = RunOf(3, {{1, 100}}, 200);
  EXPECT_FALSE(HasPeaksOf(started, RunOf(4, {{1, 100}}, 200)));
  Outcome failed = RunOf(3, {{1, 100}}, 200);
  failed.completed = false;
  EXPECT_FALSE(HasPeaksOf(started, failed));
  Outcome two = RunOf(3, {{1, 100}}, 200);
  two.processes.push_back(two.processes.front());
  EXPECT_FALSE(HasPeaksOf(started, two));
}

// A search whose first run has noted its imports.
class ForkedTrialsTest : public ::testing::Test {
 protected:
  ForkedTrialsTest() {
    trial_.command = {"python", "-u", "train.py", "--batch", "8"};
    trial_.cards = {"24GiB"};
  }

  // Notes a run of the trial, as often as the search needs before it forks any. It took so long
  // after its imports.
  void Start(const Outcome& outcome, std::chrono::seconds after_imports = {}) {
    for (int run = 0; run < 2; ++run) {
      fs::create_directories(folder_ / "run");
      const fs::path imports = folder_ / "run" / kImportsFile;
      std::ofstream(imports) << "[]";
      fs::last_write_time(imports, fs::file_time_type::clock::now() - after_imports);
      forks_.NoteStarted(trial_, outcome, folder_ / "run");
    }
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "forked_trials_test";
  Trial trial_;
  ForkedTrials forks_{folder_ / "forks"};
};

TEST_F(ForkedTrialsTest, NothingIsForkedBeforeTwoRunsWereStarted) {
  EXPECT_EQ(forks_.ServerFor(trial_, {.layer_bytes = 1_GiB, .why_no_layer = ""}), nullptr);
  EXPECT_EQ(forks_.use().why_not, "");
}

TEST_F(ForkedTrialsTest, NothingIsForkedWithoutALayer) {
  Start(RunOf(3, {{1, 100}}, 200));
  EXPECT_EQ(forks_.ServerFor(trial_, {.layer_bytes = 0, .why_no_layer = "refused"}), nullptr);
}

TEST_F(ForkedTrialsTest, NothingIsForkedIfImportsTakeASmallPartOfARun) {
  Start(RunOf(3, {{1, 100}}, 200), std::chrono::seconds(kSeconds - 1));
  EXPECT_EQ(forks_.use().why_not, "the imports are a small part of a run");
  EXPECT_EQ(forks_.ServerFor(trial_, {.layer_bytes = 1_GiB, .why_no_layer = ""}), nullptr);
}

TEST_F(ForkedTrialsTest, JobsStubsAndOtherProgramsAreStarted) {
  Start(RunOf(3, {{1, 100}}, 200));
  const FileKeeping keeping{.layer_bytes = 1_GiB, .why_no_layer = ""};
  std::vector<Trial> others(5, trial_);
  others[0].job.emplace();
  others[1].stub = "stub.py";
  others[2].allocator = "memtrace";
  others[3].command = {"python", "train.py", "--batch", "8"};
  others[4].cards = {"2x24GiB"};
  for (const Trial& other : others) EXPECT_EQ(forks_.ServerFor(other, keeping), nullptr);
  EXPECT_FALSE(forks_.Proof());
}

TEST_F(ForkedTrialsTest, LaunchersAndModulesAreStarted) {
  trial_.command = {"torchrun", "train.py"};
  Start(RunOf(3, {{1, 100}}, 200));
  EXPECT_EQ(forks_.ServerFor(trial_, {.layer_bytes = 1_GiB, .why_no_layer = ""}), nullptr);
}

TEST_F(ForkedTrialsTest, ForksWithOtherPeaksAreRefused) {
  Start(RunOf(3, {{1, 100}}, 200));
  forks_.NoteProof(RunOf(3, {{1, 101}}, 200));
  EXPECT_EQ(forks_.use().why_not, "the peaks of a forked run differ");
  EXPECT_EQ(forks_.ServerFor(trial_, {.layer_bytes = 1_GiB, .why_no_layer = ""}), nullptr);
}

}  // namespace
}  // namespace memtrace::fit
