// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/update_watch.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

using trace::Phase;

// One card; each call is one event.
class UpdateWatchTest : public testing::Test {
 protected:
  void Enter(Phase phase) {
    position_.Advance({.payload = trace::PhaseChange{phase}});
    watch_.PhaseChanged(position_, ++ordinal_, {{0, level_}});
  }
  void Level(uint64_t requested) {
    ++ordinal_;
    level_ = requested;
    watch_.Level(0, requested);
  }
  Update Latest() const { return watch_.Latest(ordinal_); }

  UpdateWatch watch_;
  Position position_;
  uint64_t ordinal_ = 0;
  uint64_t level_ = 0;
};

TEST_F(UpdateWatchTest, WithoutAnOptimizerPhaseThereIsNoUpdate) {
  Enter(Phase::kForward);
  Level(100);
  EXPECT_EQ(Latest().first_phase_run, 0U);
  EXPECT_EQ(Latest().last_event, 0U);
}

TEST_F(UpdateWatchTest, PeakExcludesInitAndUpdate) {
  Level(900);
  Level(100);
  Enter(Phase::kForward);
  Level(300);
  Enter(Phase::kBackward);
  Level(400);
  Level(200);
  Enter(Phase::kOptimizer);
  Level(700);
  EXPECT_EQ(Latest().peak_before.at(0), 400U);
}

TEST_F(UpdateWatchTest, UpdateEndsWithItsPhaseOrContinues) {
  Enter(Phase::kForward);
  Enter(Phase::kOptimizer);
  Level(10);
  EXPECT_EQ(Latest().last_event, 3U);
  Enter(Phase::kOther);
  Level(5);
  EXPECT_EQ(Latest().last_event, 4U);
}

TEST_F(UpdateWatchTest, ConsecutiveOptimizersMakeOneUpdate) {
  Enter(Phase::kBackward);
  Level(100);
  Enter(Phase::kOptimizer);
  const uint32_t first = Latest().first_phase_run;
  Level(150);
  Enter(Phase::kOther);
  Enter(Phase::kOptimizer);
  Level(170);
  EXPECT_EQ(Latest().first_phase_run, first);
  EXPECT_EQ(Latest().peak_before.at(0), 100U);
  EXPECT_EQ(Latest().last_event, 7U);
}

TEST_F(UpdateWatchTest, NextPassesBeginAtTheCurrentLevel) {
  Enter(Phase::kBackward);
  Level(500);
  Enter(Phase::kOptimizer);
  Enter(Phase::kOther);
  Level(60);
  Enter(Phase::kForward);
  EXPECT_FALSE(Latest().backward_followed);
  Level(80);
  Enter(Phase::kBackward);
  EXPECT_TRUE(Latest().backward_followed);
  Enter(Phase::kOptimizer);
  EXPECT_EQ(Latest().peak_before.at(0), 80U);
  EXPECT_FALSE(Latest().backward_followed);
}

}  // namespace
}  // namespace memtrace::analysis
