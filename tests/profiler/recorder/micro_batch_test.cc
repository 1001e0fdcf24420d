// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/micro_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace memtrace::recorder {
namespace {

using ::testing::ElementsAre;
using trace::Phase;

std::vector<uint64_t> Enter(MicroBatch& batch, std::initializer_list<Phase> phases) {
  std::vector<uint64_t> numbers;
  for (const Phase phase : phases) numbers.push_back(batch.Enter(phase));
  return numbers;
}

TEST(MicroBatchTest, ForwardAfterABackwardBeginsTheNext) {
  MicroBatch batch;
  EXPECT_THAT(Enter(batch, {Phase::kForward, Phase::kBackward, Phase::kForward, Phase::kBackward}),
              ElementsAre(1, 1, 2, 2));
}

// Two models, or one that is called twice before its loss, are one micro-batch.
TEST(MicroBatchTest, SeveralForwardsBeforeABackwardAreOneMicroBatch) {
  MicroBatch batch;
  EXPECT_THAT(Enter(batch, {Phase::kForward, Phase::kOther, Phase::kForward, Phase::kBackward}),
              ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(Enter(batch, {Phase::kForward, Phase::kOther, Phase::kForward}),
              ElementsAre(2, 0, 2));
}

TEST(MicroBatchTest, RecomputationBelongsToItsBackward) {
  MicroBatch batch;
  EXPECT_THAT(Enter(batch, {Phase::kForward, Phase::kBackward, Phase::kRecompute, Phase::kBackward,
                            Phase::kForward}),
              ElementsAre(1, 1, 1, 1, 2));
}

TEST(MicroBatchTest, StepBeginsAtMicroBatchOne) {
  MicroBatch batch;
  Enter(batch, {Phase::kForward, Phase::kBackward, Phase::kForward, Phase::kBackward});
  batch.BeginStep();
  EXPECT_THAT(Enter(batch, {Phase::kOptimizer, Phase::kForward}), ElementsAre(0, 1));
}

TEST(MicroBatchTest, BackwardBeforeAnyForwardHasNoMicroBatch) {
  MicroBatch batch;
  EXPECT_THAT(Enter(batch, {Phase::kBackward, Phase::kForward}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace memtrace::recorder
