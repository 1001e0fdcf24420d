// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/analysis/replay/listed_events.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;

constexpr DeviceAddress kReplayedA{1_GiB};
constexpr DeviceAddress kReplayedB{2_GiB};
constexpr DeviceAddress kC{3_GiB};

class ReplayTest : public testing::Test {
 protected:
  ReplayOutcome Play(PolicyKind policy, std::optional<Bytes> card = std::nullopt,
                     const std::string& settings = "") {
    const RecordedRun run = RecordedRun::Of(events_, "native", settings, writer_);
    return Replay(events_, run, {policy, card, {}}).fullest();
  }
  // Returns "placed of compared of allocations".
  std::string Placed(const std::string& settings = "") {
    const auto policy = RecordedRun::Of(events_, "native", settings).policy;
    const ReplayOutcome outcome = Play(policy, std::nullopt, settings);
    return std::to_string(outcome.placed_as_recorded.value()) + " of " +
           std::to_string(outcome.compared.value()) + " of " + std::to_string(outcome.allocations);
  }

  ListedEvents events_;
  std::string writer_ = "0.1.0";  // determines the pools of blocks
};

TEST_F(ReplayTest, SegmentsHaveTheirRecordedAddresses) {
  events_.Map(kReplayedB, 20_MiB)
      .Allocate(kReplayedB, 15_MiB - 1)
      .Map(kReplayedA, 20_MiB)
      .Allocate(kReplayedA, 6_MiB);
  events_.Free(kReplayedA)
      .Free(kReplayedB)
      .Allocate(kReplayedA, 2_MiB);  // the lower of two equally large ones
  EXPECT_EQ(Placed(), "3 of 3 of 3");
}

TEST_F(ReplayTest, MisplacedBlockDoesNotAffectTheNext) {
  events_.Map(kReplayedA, 20_MiB).Allocate(kReplayedA, 2_MiB).Allocate(kReplayedA + 4_MiB, 2_MiB);
  events_.Allocate(kReplayedA + 2_MiB, 2_MiB).Allocate(kReplayedA + 6_MiB, 2_MiB);
  EXPECT_EQ(Placed(), "3 of 4 of 4");
}

TEST_F(ReplayTest, UnrequestedMemoryIsMappedAsRecorded) {
  events_.Map(kReplayedA, 20_MiB)
      .Allocate(kReplayedA, 2_MiB)
      .Map(kReplayedB, 20_MiB)
      .Allocate(kReplayedB, 2_MiB);
  events_.Allocate(kReplayedA + 2_MiB, 18_MiB).Allocate(kReplayedB + 2_MiB, 17_MiB);
  EXPECT_EQ(Placed(), "3 of 4 of 4");
  EXPECT_EQ(Play(PolicyKind::kTorchNative).peak_reserved, 40_MiB);
}

TEST_F(ReplayTest, UnneededSegmentIsGuessedToBeOfAnotherPool) {
  writer_ = "";
  events_.Map(kReplayedA, 20_MiB)
      .Allocate(kReplayedA, 2_MiB)
      .Map(kReplayedB, 20_MiB)
      .Allocate(kReplayedB, 2_MiB);
  events_.Allocate(kReplayedA + 2_MiB, 17_MiB).Allocate(kReplayedB + 2_MiB, 18_MiB);
  EXPECT_EQ(Placed(), "4 of 4 of 4");
  EXPECT_EQ(Play(PolicyKind::kTorchNative).guessed_pools, 1u);
}

TEST_F(ReplayTest, RunWhoseLastRequestFailedEndsInFailure) {
  events_.Map(kReplayedA, 20_MiB).Allocate(kReplayedA, 2_MiB).Fail(30_MiB, 10_MiB).Free(kReplayedA);
  EXPECT_TRUE(Play(PolicyKind::kTorchNative, 100_MiB).ends_in_failure);
  EXPECT_TRUE(Play(PolicyKind::kTorchNative, 100_MiB).fits);
  events_.Allocate(kReplayedA, 2_MiB);
  EXPECT_FALSE(Play(PolicyKind::kTorchNative, 100_MiB).ends_in_failure);
}

// The block whose address is given again is gone; the new one counts.
TEST_F(ReplayTest, LowerBoundDropsABlockWithALostFree) {
  events_.Map(kReplayedA, 40_MiB)
      .Allocate(kReplayedA, 2_MiB)
      .Allocate(kReplayedA, 30_MiB)
      .Free(kReplayedA)
      .Allocate(kReplayedA, 4_MiB);
  EXPECT_EQ(RecordedRun::Of(events_, "native", "").devices.at(0).lower_bound, 30_MiB);
}

TEST_F(ReplayTest, LowerBoundExcludesReleasedBlocks) {
  trace::Alive alive;
  alive.block = {.address = kReplayedA.value(), .requested = 30_MiB, .allocated = 30_MiB};
  alive.waiting = 1;
  events_.Map(kReplayedA, 40_MiB)
      .Add(trace::Resume{})
      .Add(alive)
      .Allocate(kReplayedB, 2_MiB)
      .Complete(kReplayedA);
  events_.Allocate(kReplayedA, 5_MiB).Complete(kReplayedA).Allocate(kC, 6_MiB);
  EXPECT_EQ(RecordedRun::Of(events_, "native", "").devices.at(0).lower_bound, 8_MiB);
}

TEST_F(ReplayTest, CompletionWithoutARequestFreesTheBlock) {
  events_.Map(kReplayedA, 20_MiB)
      .Allocate(kReplayedA, 10_MiB)
      .Complete(kReplayedA)
      .Map(kReplayedB, 20_MiB);
  events_.Allocate(kReplayedB, 16_MiB).Complete(kReplayedB).Allocate(kReplayedB, 16_MiB);
  EXPECT_EQ(Play(PolicyKind::kTorchNative).peak_allocated, 16_MiB) << "not both blocks";
}

TEST_F(ReplayTest, SegmentsOlderThanTheTraceAreNotCompared) {
  events_.Allocate(kReplayedB, 2_MiB).Map(kReplayedA, 20_MiB).Allocate(kReplayedA, 2_MiB);
  EXPECT_EQ(Placed(), "1 of 1 of 2");
}

TEST_F(ReplayTest, BlocksOlderThanTheTraceKeepTheirPlace) {
  const auto alive = [](DeviceAddress address, Bytes bytes, uint8_t waiting) {
    trace::Alive block;
    block.block.address = address.value();
    block.block.requested = bytes;
    block.block.allocated = bytes;
    block.waiting = waiting;
    return block;
  };
  events_.Add(trace::Resume{}).Map(kReplayedA, 20_MiB).Map(kReplayedB, 20_MiB).Map(kC, 2_MiB);
  events_.Add(alive(kReplayedA, 4_MiB, 0)).Add(alive(kReplayedA + 10_MiB, 10_MiB, 1));
  events_.Allocate(kReplayedA + 4_MiB, 6_MiB).Allocate(kReplayedB, 10_MiB).Allocate(kC, 512);
  events_.Complete(kReplayedA + 10_MiB).Allocate(kReplayedA + 10_MiB, 9_MiB - 512).Free(kReplayedA);
  events_.Allocate(kReplayedA, 4_MiB);
  EXPECT_EQ(Placed(), "5 of 5 of 5");
}

TEST_F(ReplayTest, ExpandableSegmentIsRecognisedByItsGrowth) {
  events_.Map(kReplayedA, 40_MiB).Allocate(kReplayedA, 21_MiB).Map(kReplayedA + 40_MiB, 20_MiB);
  events_.Allocate(kReplayedA + 21_MiB, 30_MiB).Free(kReplayedA).Unmap(kReplayedA, 20_MiB);
  events_.Allocate(kReplayedA + 51_MiB, 5_MiB).Map(kReplayedA, 20_MiB).Allocate(kReplayedA, 20_MiB);
  EXPECT_EQ(RecordedRun::Of(events_, "native", "").policy, PolicyKind::kTorchExpandable);
  EXPECT_EQ(Placed(), "4 of 4 of 4");
}

// torch does not look at its free blocks again after it has emptied the cache for a request.
TEST_F(ReplayTest, MemoryFreedAfterAFailedCallIsIgnored) {
  events_.Map(kReplayedA, 20_MiB)
      .Allocate(kReplayedA, 20_MiB)
      .Map(kReplayedB, 30_MiB)
      .Allocate(kReplayedB, 30_MiB);
  events_.Request(kReplayedA)
      .Free(kReplayedB)
      .Complete(kReplayedA)
      .Unmap(kReplayedB, 30_MiB)
      .Map(kC, 20_MiB);
  events_.Allocate(kC, 19_MiB);
  events_.Allocate(kReplayedA, 18_MiB);
  EXPECT_EQ(Placed(), "4 of 4 of 4");
}

TEST_F(ReplayTest, CacheIsEmptiedWhereRecorded) {
  events_.Map(kReplayedA, 30_MiB)
      .Allocate(kReplayedA, 30_MiB)
      .Free(kReplayedA)
      .Unmap(kReplayedA, 30_MiB);
  events_.Map(kReplayedB, 20_MiB).Allocate(kReplayedB, 2_MiB);  // would have fitted beside it
  events_.Map(kC, 40_MiB).Allocate(kC, 40_MiB);
  const RecordedRun run = RecordedRun::Of(events_, "native", "");
  EXPECT_THAT(run.devices.at(0).empty_cache, ElementsAre(5));
  EXPECT_EQ(Play(PolicyKind::kTorchExpandable).peak_reserved, 60_MiB);
}

TEST_F(ReplayTest, ReleaseForALargerRequestIsNotAnEmptiedCache) {
  events_.Map(kReplayedA, 30_MiB)
      .Allocate(kReplayedA, 30_MiB)
      .Free(kReplayedA)
      .Unmap(kReplayedA, 30_MiB);
  events_.Map(kReplayedB, 50_MiB).Allocate(kReplayedB, 50_MiB);
  EXPECT_TRUE(RecordedRun::Of(events_, "native", "").devices.at(0).empty_cache.empty());
  const ReplayOutcome with_room = Play(PolicyKind::kTorchNative, 1_GiB);
  EXPECT_EQ(with_room.peak_reserved, 80_MiB);
  EXPECT_EQ(with_room.smallest_card, 50_MiB);
  EXPECT_EQ(Play(PolicyKind::kTorchNative).peak_reserved, 50_MiB) << "as it was";
}

TEST_F(ReplayTest, RecordedFailureDoesNotFit) {
  events_.Map(kReplayedA, 30_MiB).Allocate(kReplayedA, 30_MiB).Fail(50_MiB, 10_MiB);
  const ReplayOutcome recorded = Play(PolicyKind::kTorchNative);
  EXPECT_FALSE(recorded.fits);
  EXPECT_EQ(recorded.card, 40_MiB) << "what its allocator had and could have had";
  EXPECT_EQ(recorded.smallest_card, 80_MiB);
  EXPECT_TRUE(Play(PolicyKind::kTorchNative, 80_MiB).fits);
  EXPECT_FALSE(Play(PolicyKind::kTorchNative, 78_MiB).fits);
}

TEST_F(ReplayTest, MemoryOutsideTheAllocatorIsSubtractedFromTheCard) {
  events_.Sample(1_GiB, 300_MiB, 0).Map(kReplayedA, 30_MiB).Allocate(kReplayedA, 30_MiB);
  events_.Sample(1_GiB, 300_MiB, 50_MiB).Map(kReplayedB, 40_MiB).Allocate(kReplayedB, 40_MiB);
  const ReplayOutcome outcome = Play(PolicyKind::kTorchNative);
  EXPECT_EQ(outcome.card, 1_GiB);
  // 40 of the 50 outside were on their way into a segment.
  EXPECT_EQ(outcome.smallest_card, 300_MiB + 10_MiB + 70_MiB);
}

TEST_F(ReplayTest, LowerBoundRoundsTo512AndReservesWaitingBlocks) {
  events_.Allocate(kReplayedA, 1)
      .Allocate(kReplayedB, 513)
      .Request(kReplayedB)
      .Allocate(kC, 100)
      .Complete(kReplayedB);
  const ReplayOutcome outcome = Play(PolicyKind::kLowerBound);
  EXPECT_EQ(outcome.peak_allocated, 1536u);
  EXPECT_EQ(outcome.peak_reserved, 2048u);
  EXPECT_EQ(outcome.smallest_card, 1536u);
  EXPECT_TRUE(outcome.fits);
  EXPECT_FALSE(Play(PolicyKind::kLowerBound, 1535).fits);
  EXPECT_FALSE(outcome.placed_as_recorded.has_value());
}

TEST_F(ReplayTest, OurAllocatorIsReplayedWithItsOwnCode) {
  events_.Allocate(kReplayedA, 30_MiB)
      .Allocate(kReplayedB, 5_MiB)
      .Request(kReplayedA)
      .Allocate(kC, 30_MiB);
  events_.Complete(kReplayedA).Allocate(kReplayedA, 30_MiB);
  const ReplayOutcome outcome = Play(PolicyKind::kMemtrace, 1_GiB);
  EXPECT_EQ(outcome.peak_allocated, 65_MiB);
  EXPECT_GE(outcome.peak_reserved, 65_MiB) << "the first block waits, then it is used again";
  EXPECT_LT(outcome.peak_reserved, 95_MiB);
  EXPECT_EQ(outcome.smallest_card, 66_MiB);
  EXPECT_GT(outcome.calls.at("cuMemMap"), 0u);
}

TEST_F(ReplayTest, PlacementsAreReportedInOrder) {
  events_.Map(kReplayedA, 20_MiB)
      .Allocate(kReplayedA, 2_MiB)
      .Map(kReplayedB, 2_MiB)
      .Allocate(kReplayedB, 600);
  events_.Allocate(kReplayedB + 1024, 1).Allocate(kReplayedA + 2_MiB, 18_MiB - 1);
  std::vector<std::string> told;
  const auto sink = [&told](uint64_t sequence, int32_t device, const replay::Placed& placed) {
    told.push_back(std::to_string(sequence) + " " + std::to_string(device) + " " +
                   std::to_string(placed.segment) + " " + std::to_string(placed.offset) + " " +
                   std::to_string(placed.size));
  };
  const RecordedRun run = RecordedRun::Of(events_, "native", "");
  Replay(events_, run, {PolicyKind::kTorchNative, std::nullopt, sink});
  EXPECT_THAT(told, ElementsAre("2 0 0 0 2097152", "4 0 1 0 1024", "5 0 1 1024 512",
                                "6 0 0 2097152 18874368"));
}

TEST(PolicyNameTest, NamesRoundTrip) {
  for (const char* name : {"torch-native", "torch-expandable", "memtrace", "lower-bound"}) {
    EXPECT_EQ(PolicyName(PolicyOf(name).value()), name);
  }
  EXPECT_FALSE(PolicyOf("native").has_value());
}

}  // namespace
}  // namespace memtrace::replay
