// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/run_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace memtrace::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using trace::Phase;

constexpr DeviceIndex kCard{0};
constexpr DeviceIndex kOtherCard{1};

class RunAccountTest : public testing::Test {
 protected:
  static trace::OutsideAllocate Outside(uint64_t address, uint64_t bytes) {
    return {.address = address, .bytes = bytes};
  }

  RunAccount run_;
};

TEST_F(RunAccountTest, EachPhaseRunIsCountedOnce) {
  run_.Note(trace::PhaseChange{.phase = Phase::kInit});
  EXPECT_FALSE(run_.position().forward_seen);
  run_.Note(trace::PhaseChange{.phase = Phase::kForward, .micro_batch = 1});
  run_.Note(trace::PhaseChange{.phase = Phase::kForward, .micro_batch = 1});
  EXPECT_EQ(run_.position().phase_run, 2U);
  EXPECT_TRUE(run_.position().forward_seen);
  run_.Note(trace::PhaseChange{.phase = Phase::kOther});
  EXPECT_EQ(run_.position().phase_run, 3U);
  EXPECT_EQ(run_.position().micro_batch, 1U) << "the latest that was begun";
  EXPECT_TRUE(run_.position().forward_seen);
}

TEST_F(RunAccountTest, StepBeginsBeforeItsFirstMicroBatch) {
  run_.Note(trace::PhaseChange{.phase = Phase::kForward, .micro_batch = 2});
  run_.Note(trace::Step{.number = 7});
  EXPECT_EQ(run_.position().step, 7U);
  EXPECT_EQ(run_.position().micro_batch, 0U);
  EXPECT_EQ(run_.steps(), 1U);
}

TEST_F(RunAccountTest, EachCardHasAnAccountThatSeesEachStep) {
  run_.Allocated(kCard, {.requested = 100, .birth = 1});
  run_.Allocated(kOtherCard, {.requested = 200, .birth = 2});
  run_.Allocated(kCard, {.requested = 300, .birth = 3});
  run_.Note(trace::Step{.number = 1});
  EXPECT_EQ(run_.card(kCard).live_requested(), 400U);
  EXPECT_THAT(run_.card(kCard).live_at_steps(), ElementsAre(400));
  EXPECT_THAT(run_.card(kOtherCard).live_at_steps(), ElementsAre(200));
}

TEST_F(RunAccountTest, FreedBlockIsLiveUntilCompletion) {
  const LiveBlock block{.requested = 100, .birth = 1};
  run_.Allocated(kCard, block);
  run_.FreeRequested({DeviceAddress{0x1000}, kCard}, block, 2);
  EXPECT_EQ(run_.card(kCard).live_requested(), 100U);
  run_.FreeCompleted({DeviceAddress{0x1000}, kOtherCard});
  EXPECT_EQ(run_.card(kCard).live_requested(), 100U);
  run_.FreeCompleted({DeviceAddress{0x1000}, kCard});
  EXPECT_EQ(run_.card(kCard).live_requested(), 0U);
  run_.FreeCompleted({DeviceAddress{0x1000}, kCard});
  EXPECT_EQ(run_.card(kCard).live_requested(), 0U);
}

TEST_F(RunAccountTest, MappedMemoryCountsOnItsCard) {
  run_.Note(trace::Map{.device = 1, .address = 0x1000, .size = 0x3000});
  run_.Note(trace::Unmap{.device = 1, .address = 0x2000, .size = 0x1000});
  std::vector<std::pair<uint64_t, uint64_t>> mapped;
  run_.card(kOtherCard).mapped.ForEach([&](uint64_t begin, uint64_t end) {
    mapped.emplace_back(begin, end);
  });
  EXPECT_THAT(mapped, ElementsAre(Pair(0x1000, 0x2000), Pair(0x3000, 0x4000)));
}

TEST_F(RunAccountTest, LatestValueOfAFactIsKept) {
  run_.Note(trace::Annotate{.key = 1, .value = 2});
  run_.Note(trace::Annotate{.key = 3, .value = 4});
  run_.Note(trace::Annotate{.key = 1, .value = 5});
  EXPECT_THAT(run_.facts(), ElementsAre(Pair(1, 5), Pair(3, 4)));
}

TEST_F(RunAccountTest, OnlyThreadsWithATagAreListed) {
  run_.Note(trace::TagChange{.thread = 1, .owner = 10});
  run_.Note(trace::TagChange{.thread = 2, .owner = 0});
  run_.Note(trace::TagChange{.thread = 1, .owner = 11});
  EXPECT_THAT(run_.tags(), ElementsAre(Pair(1, 11)));
  run_.Note(trace::TagChange{.thread = 1, .owner = 0});
  EXPECT_THAT(run_.tags(), IsEmpty());
  run_.Note(trace::TagChange{.thread = 3, .owner = 12});
  run_.Note(trace::TagChange{.thread = 4, .owner = 13});
  EXPECT_THAT(run_.tags(), ElementsAre(Pair(3, 12), Pair(4, 13)));
}

TEST_F(RunAccountTest, TagsOfThreadsBeyondTheLimitAreOmitted) {
  for (uint32_t thread = 0; thread < RunAccount::kMaxThreads + 5; ++thread) {
    run_.Note(trace::TagChange{.thread = thread, .owner = 10});
  }
  EXPECT_EQ(run_.tags().size(), RunAccount::kMaxThreads);
  run_.Note(trace::TagChange{.thread = 0, .owner = 11});
  EXPECT_EQ(run_.tags().at(0), 11U);
}

TEST_F(RunAccountTest, OutsideMemoryIsKeyedByKindAndAddress) {
  run_.Note(Outside(0x1000, 100));
  trace::OutsideAllocate host = Outside(0x1000, 200);
  host.kind = trace::OutsideKind::kHost;
  run_.Note(host);
  run_.Note(trace::OutsideFree{.address = 0x1000});
  ASSERT_EQ(run_.outside().size(), 1U);
  EXPECT_EQ(run_.outside().begin()->second.bytes, 200U);
}

TEST_F(RunAccountTest, OutsideMemoryBeyondTheLimitIsOmitted) {
  for (uint64_t i = 0; i < RunAccount::kMaxOutside + 5; ++i) run_.Note(Outside(512 * i, 1));
  EXPECT_EQ(run_.outside().size(), RunAccount::kMaxOutside);
}

TEST_F(RunAccountTest, FailureKeepsItsPositionAndTheStateOfAllCards) {
  run_.Note(trace::Step{.number = 4});
  trace::OutOfMemory failure;
  failure.requested = 500;
  failure.cards = {{.device = 0, .free = 10}, {.device = 1, .free = 20}};
  run_.Note(failure);
  run_.Note(trace::Step{.number = 5});
  EXPECT_EQ(run_.failures(), 1U);
  EXPECT_EQ(run_.last_failure().event.requested, 500U);
  EXPECT_EQ(run_.last_failure().at.step, 4U);
  EXPECT_EQ(run_.card(kOtherCard).sample->free, 20U);
  run_.Note(trace::CardSample{{.device = 1, .free = 30}});
  EXPECT_EQ(run_.card(kOtherCard).sample->free, 30U);
}

}  // namespace
}  // namespace memtrace::recorder
