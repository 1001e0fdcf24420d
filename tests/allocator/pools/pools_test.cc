// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Private pools: the requests they serve, what keeps their memory mapped, and the effect of
// captures.
#include <gmock/gmock.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr PoolId kGraph{0, 1};
constexpr PoolId kOther{0, 2};

class PoolsTest : public testing::Test {
 protected:
  // Does as torch does around a capture: adds a user, and routes the requests on `stream`.
  void Begin(const PoolId& pool, StreamId stream = kMain) {
    card_.allocator.pools().Retain(pool);
    ASSERT_TRUE(
        card_.allocator.pools().BeginRouting(pool, [=](StreamId s) { return s == stream; }).ok());
  }
  void End(const PoolId& pool) { ASSERT_TRUE(card_.allocator.pools().EndRouting(pool).ok()); }
  void Release(const PoolId& pool) { ASSERT_TRUE(card_.allocator.pools().Release(pool).ok()); }
  PoolId PoolOf(DeviceAddress address) const {
    for (const SegmentView& segment : card_.allocator.Snapshot()) {
      if (segment.address <= address && address - segment.address < segment.size)
        return segment.pool;
    }
    return {};
  }
  Bytes reserved() const { return card_.allocator.accounts().ledger().reserved; }

  Card card_{100_MiB};
};

TEST_F(PoolsTest, RequestsOfARoutedStreamGoToItsPool) {
  Begin(kGraph);
  EXPECT_EQ(PoolOf(card_.Allocate(3_MiB)), kGraph);
  EXPECT_EQ(PoolOf(card_.Allocate(3_MiB, kSide)), PoolId{});
  End(kGraph);
  EXPECT_EQ(PoolOf(card_.Allocate(3_MiB)), PoolId{});
}

TEST_F(PoolsTest, FirstMatchingRoutingGetsTheRequest) {
  Begin(kOther);
  Begin(kGraph);
  EXPECT_EQ(PoolOf(card_.Allocate(3_MiB)), kOther);
  End(kOther);
  EXPECT_EQ(PoolOf(card_.Allocate(3_MiB)), kGraph);
}

TEST_F(PoolsTest, RoutingsAndUsersAreCounted) {
  EXPECT_TRUE(absl::IsNotFound(card_.allocator.pools().Uses(kGraph).status()));
  EXPECT_TRUE(absl::IsNotFound(card_.allocator.pools().EndRouting(kGraph)));
  EXPECT_TRUE(absl::IsNotFound(card_.allocator.pools().Release(kGraph)));
  EXPECT_TRUE(absl::IsNotFound(card_.allocator.pools().BeginRouting(kGraph, {})));
  Begin(kGraph);
  EXPECT_TRUE(absl::IsAlreadyExists(card_.allocator.pools().BeginRouting(kGraph, {})));
  card_.allocator.pools().Retain(kGraph);
  EXPECT_EQ(*card_.allocator.pools().Uses(kGraph), 2);
  End(kGraph);
  Release(kGraph);
  Release(kGraph);
  EXPECT_TRUE(absl::IsNotFound(card_.allocator.pools().Uses(kGraph).status()));
}

TEST_F(PoolsTest, MemoryOfAReplayableGraphIsNotReclaimed) {
  Begin(kGraph);
  ASSERT_TRUE(card_.Free(card_.Allocate(60_MiB)).ok());
  End(kGraph);
  EXPECT_TRUE(card_.allocator.EmptyCache().ok());
  EXPECT_TRUE(card_.allocator.EmptyCache(kGraph).ok());
  EXPECT_EQ(reserved(), 60_MiB);
  EXPECT_EQ(card_.FailToAllocate(60_MiB).ledger.pinned, 60_MiB);
  Release(kGraph);
  card_.Allocate(60_MiB);
}

TEST_F(PoolsTest, PoolWithoutUsersIsRemovedWithItsLastBlock) {
  Begin(kGraph);
  const DeviceAddress outlives = card_.Allocate(4_MiB);
  End(kGraph);
  Release(kGraph);
  EXPECT_TRUE(card_.allocator.EmptyCache(kGraph).ok());
  EXPECT_EQ(*card_.allocator.pools().Uses(kGraph), 0);
  ASSERT_TRUE(card_.Free(outlives).ok());
  EXPECT_TRUE(card_.allocator.EmptyCache(kGraph).ok());
  EXPECT_TRUE(absl::IsNotFound(card_.allocator.pools().Uses(kGraph).status()));
  EXPECT_EQ(reserved(), 0u);
  EXPECT_EQ(card_.vmm.live_reservations(), 0u);
}

TEST_F(PoolsTest, CapturedStreamIsNotWaitedFor) {
  const DeviceAddress shared = card_.Allocate(30_MiB, kSide);
  ASSERT_TRUE(card_.Free(card_.Allocate(20_MiB)).ok());
  Begin(kGraph);
  card_.streams.BeginCapture(kMain);
  ASSERT_TRUE(card_.Share(shared, 30_MiB, kMain).ok());
  ASSERT_TRUE(card_.Free(shared).ok());
  EXPECT_EQ(card_.allocator.accounts().ledger().stream_wait, 30_MiB);
  // 20 MiB of the captured stream's own cache and the 30 MiB are not available now.
  EXPECT_EQ(card_.FailToAllocate(60_MiB, kSide).obtainable, 50_MiB);
  card_.streams.EndCapture(kMain);
  End(kGraph);
  card_.Allocate(100_MiB, kSide);
}

// A capture from kMain that kSide has joined, with SetCaptureReuse(true).
class CaptureReuseTest : public PoolsTest {
 protected:
  CaptureReuseTest() {
    card_.allocator.pools().SetCaptureReuse(true);
    card_.allocator.pools().Retain(kGraph);
  }
  void BeginCapture() {
    ASSERT_TRUE(card_.allocator.pools().BeginRouting(kGraph, [](StreamId) { return true; }).ok());
    card_.streams.BeginCapture(kMain);
    card_.streams.WaitInCapture(kSide, kMain);
  }
  // Frees the block after both streams have used it.
  void ShareAndFree(DeviceAddress address) {
    card_.streams.WaitInCapture(kSide, kMain);
    ASSERT_TRUE(card_.Share(address, 4_MiB, kSide).ok());
    ASSERT_TRUE(card_.Free(address).ok());
  }
  Bytes waiting() const { return card_.allocator.accounts().ledger().stream_wait; }
};

TEST_F(CaptureReuseTest, MemoryOrderedByTheGraphIsReusedWithinIt) {
  BeginCapture();
  const DeviceAddress shared = card_.Allocate(4_MiB);
  ShareAndFree(shared);
  EXPECT_NE(card_.Allocate(4_MiB), shared);
  card_.streams.WaitInCapture(kMain, kSide);
  EXPECT_EQ(card_.Allocate(4_MiB), shared);
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(CaptureReuseTest, OnlyTheBlocksOwnStreamReusesIt) {
  BeginCapture();
  const DeviceAddress shared = card_.Allocate(4_MiB);
  ShareAndFree(shared);
  card_.Allocate(4_MiB, kSide);
  EXPECT_EQ(waiting(), 4_MiB);
}

TEST_F(CaptureReuseTest, StreamOutsideTheCaptureIsWaitedForAfterwards) {
  BeginCapture();
  const DeviceAddress shared = card_.Allocate(4_MiB);
  ASSERT_TRUE(card_.allocator.RecordStream(shared, StreamId{3}).ok());
  ShareAndFree(shared);
  card_.streams.WaitInCapture(kMain, kSide);
  EXPECT_NE(card_.Allocate(4_MiB), shared);
  card_.streams.EndCapture(kMain);
  card_.streams.EndCapture(kSide);
  End(kGraph);
  EXPECT_TRUE(card_.allocator.EmptyCache().ok());
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(CaptureReuseTest, UsesBeforeTheCapturePreventReuse) {
  ASSERT_TRUE(card_.allocator.pools().BeginRouting(kGraph, [](StreamId) { return true; }).ok());
  const DeviceAddress before = card_.Allocate(4_MiB);
  const DeviceAddress while_open = card_.Allocate(4_MiB);
  ASSERT_TRUE(card_.Share(before, 4_MiB, kSide).ok());
  End(kGraph);
  BeginCapture();
  card_.streams.EndCapture(kSide);
  ASSERT_TRUE(card_.Share(while_open, 4_MiB, kSide).ok());
  ShareAndFree(before);
  ShareAndFree(while_open);
  card_.streams.WaitInCapture(kMain, kSide);
  card_.Allocate(4_MiB);
  EXPECT_EQ(waiting(), 8_MiB);
}

TEST_F(CaptureReuseTest, LaterCaptureOfTheStreamAllowsNoReuse) {
  BeginCapture();
  ShareAndFree(card_.Allocate(4_MiB));
  card_.streams.BeginCapture(kMain);
  card_.streams.WaitInCapture(kMain, kSide);
  card_.Allocate(4_MiB);
  EXPECT_EQ(waiting(), 4_MiB);
}

TEST_F(CaptureReuseTest, ReplacedDependenciesPreventReuse) {
  BeginCapture();
  const DeviceAddress seen = card_.Allocate(4_MiB);
  const DeviceAddress shared = card_.Allocate(4_MiB);
  ShareAndFree(seen);
  card_.streams.WaitInCapture(kMain, kSide);
  EXPECT_EQ(card_.Allocate(4_MiB), seen);  // all nodes of both streams are known to come before
  ShareAndFree(shared);
  card_.streams.WaitInCapture(kMain, kSide);
  card_.streams.ReplaceEnds(kMain, {});
  EXPECT_NE(card_.Allocate(4_MiB), shared);
  EXPECT_EQ(waiting(), 4_MiB);
}

TEST_F(CaptureReuseTest, FailedDriverQueryPostponesReuse) {
  BeginCapture();
  ShareAndFree(card_.Allocate(4_MiB));
  card_.streams.WaitInCapture(kMain, kSide);
  card_.failures.FailNth(DriverCall::kDone, 1, CallFailures::Repeat::kOnce,
                         absl::InternalError("no answer"));
  card_.Allocate(4_MiB);
  EXPECT_EQ(waiting(), 4_MiB);
  card_.Allocate(4_MiB);
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(CaptureReuseTest, NothingIsReusedIfCaptureReuseIsOff) {
  card_.allocator.pools().SetCaptureReuse(false);
  BeginCapture();
  ShareAndFree(card_.Allocate(4_MiB));
  card_.streams.WaitInCapture(kMain, kSide);
  card_.Allocate(4_MiB);
  EXPECT_EQ(waiting(), 4_MiB);
}

TEST_F(PoolsTest, BlockIsAllocatedAtAStatedFreeAddress) {
  const auto allocate_at = [&](DeviceAddress at, Bytes bytes, StreamId stream = kMain) {
    const AllocationResult result =
        card_.allocator.Allocate({.bytes = bytes, .stream = stream, .at = at});
    card_.allocator.CheckInvariants();
    return std::holds_alternative<DeviceAddress>(result) && std::get<DeviceAddress>(result) == at;
  };
  const DeviceAddress base = card_.Allocate(20_MiB);
  EXPECT_FALSE(allocate_at(base, 4_MiB));  // in use
  ASSERT_TRUE(card_.Free(base).ok());
  EXPECT_TRUE(allocate_at(base + 6_MiB, 4_MiB));
  EXPECT_THAT(card_.Contents(), ElementsAre("1 large: (6MiB) 4MiB (10MiB)"));
  EXPECT_FALSE(allocate_at(base + 4_MiB, 4_MiB));   // partly in use
  EXPECT_FALSE(allocate_at(base + 18_MiB, 4_MiB));  // past what is mapped
  EXPECT_FALSE(allocate_at(base, 4_MiB, kSide));    // another stream's
  EXPECT_FALSE(allocate_at(base, 512));             // small blocks are elsewhere
  Begin(kGraph);
  EXPECT_FALSE(allocate_at(base, 4_MiB));  // another pool's
  const DeviceAddress inside = card_.Allocate(4_MiB);
  ASSERT_TRUE(card_.Free(inside).ok());
  EXPECT_TRUE(allocate_at(inside, 4_MiB));
  End(kGraph);
  EXPECT_EQ(reserved(), 24_MiB);
}

TEST_F(PoolsTest, PoolWithUseOnOomServesRequestsThatWouldFail) {
  Begin(kOther);
  const DeviceAddress inside = card_.Allocate(80_MiB);
  End(kOther);
  ASSERT_TRUE(card_.Free(inside).ok());
  EXPECT_EQ(card_.FailToAllocate(50_MiB).obtainable, 20_MiB);
  ASSERT_TRUE(card_.allocator.pools().SetUseOnOom(kOther, true).ok());
  EXPECT_EQ(card_.Allocate(50_MiB), inside);
  EXPECT_EQ(card_.FailToAllocate(50_MiB).obtainable, 30_MiB);
}

TEST_F(PoolsTest, PoolWithNoSplitHasOneSegmentPerBlock) {
  card_.allocator.pools().Retain(kOther);
  ASSERT_TRUE(card_.allocator.pools().SetNoSplit(kOther).ok());
  Begin(kOther);
  const DeviceAddress large = card_.Allocate(5_MiB);
  card_.Allocate(3_MiB);
  EXPECT_EQ(reserved(), 10_MiB);
  ASSERT_TRUE(card_.Free(large).ok());
  EXPECT_EQ(card_.Allocate(3_MiB), large);
  EXPECT_THAT(card_.Contents(), ElementsAre("1 large: 6MiB", "1 large: 4MiB"));
}

// A source whose memory is always at the same place, and which records its requests.
class WrittenSource : public MemorySource {
 public:
  absl::StatusOr<DeviceAddress> Allocate(Bytes size, StreamId /*stream*/) override {
    if (is_empty) return absl::ResourceExhaustedError("no more");
    asked.push_back(size);
    return next_ += 1_GiB;
  }
  void Free(DeviceAddress address, Bytes size, StreamId /*stream*/) override {
    freed.emplace_back(address, size);
  }

  bool is_empty = false;
  std::vector<Bytes> asked;
  std::vector<std::pair<DeviceAddress, Bytes>> freed;

 private:
  DeviceAddress next_{1ull << 40};
};

TEST_F(PoolsTest, SourceIsAskedForTorchsSegmentSizesAndGetsThemBack) {
  auto source = std::make_shared<WrittenSource>();
  card_.allocator.pools().Retain(kOther);
  ASSERT_TRUE(card_.allocator.pools().SetSource(kOther, source).ok());
  ASSERT_TRUE(card_.allocator.pools().BeginRouting(kOther, [](StreamId) { return true; }).ok());
  std::vector<DeviceAddress> blocks;
  for (const Bytes size : {1_MiB, 1_MiB, 1_MiB, 3_MiB, 17_MiB + 1}) {
    blocks.push_back(std::get<DeviceAddress>(card_.allocator.Allocate(size, kMain)));
  }
  EXPECT_THAT(source->asked, ElementsAre(2_MiB, 2_MiB, 20_MiB, 18_MiB));
  EXPECT_EQ(card_.vmm.used(), 0u);
  source->is_empty = true;
  EXPECT_TRUE(std::holds_alternative<OutOfMemoryEvent>(card_.allocator.Allocate(30_MiB, kMain)));
  End(kOther);
  for (const DeviceAddress block : blocks) ASSERT_TRUE(card_.Free(block).ok());
  EXPECT_THAT(source->freed, IsEmpty());
  Release(kOther);
  EXPECT_TRUE(card_.allocator.EmptyCache(kOther).ok());
  EXPECT_THAT(source->freed,
              UnorderedElementsAre(Pair(testing::_, 2_MiB), Pair(testing::_, 2_MiB),
                                   Pair(testing::_, 20_MiB), Pair(testing::_, 18_MiB)));
}

TEST_F(PoolsTest, MemoryOfASourceCountsTowardsTheLimit) {
  auto source = std::make_shared<WrittenSource>();
  card_.allocator.pools().Retain(kOther);
  ASSERT_TRUE(card_.allocator.pools().SetSource(kOther, source).ok());
  ASSERT_TRUE(card_.allocator.pools().BeginRouting(kOther, [](StreamId) { return true; }).ok());
  card_.allocator.SetLimit(10_MiB);
  EXPECT_TRUE(std::holds_alternative<OutOfMemoryEvent>(card_.allocator.Allocate(12_MiB, kMain)));
  EXPECT_THAT(source->asked, IsEmpty());
}

TEST_F(PoolsTest, PoolIsRestoredToItsCheckpoint) {
  Begin(kGraph);
  const DeviceAddress a = card_.Allocate(4_MiB);
  const DeviceAddress gap = card_.Allocate(2_MiB);
  const DeviceAddress b = card_.Allocate(4_MiB);
  ASSERT_TRUE(card_.Free(gap).ok());
  const auto checkpoint = card_.allocator.pools().Checkpoint(kGraph);
  ASSERT_TRUE(checkpoint.ok());

  ASSERT_TRUE(card_.Free(a).ok());
  const DeviceAddress c = card_.Allocate(6_MiB);
  card_.Allocate(8_MiB);
  const auto restored = card_.allocator.pools().Restore(*checkpoint);
  ASSERT_TRUE(restored.ok()) << restored.status();
  card_.allocator.CheckInvariants();
  EXPECT_EQ(restored->freed.size(), 3u);
  EXPECT_THAT(restored->freed, testing::IsSupersetOf({b, c}));
  EXPECT_THAT(restored->allocated, UnorderedElementsAre(a, b));
  EXPECT_THAT(card_.Contents(), ElementsAre("1 large: 4MiB (2MiB) 4MiB (8MiB)"));
  EXPECT_EQ(card_.allocator.accounts().statistics().allocation.all.current, 2);
}

TEST_F(PoolsTest, FailedRestoreChangesNothing) {
  Begin(kGraph);
  const DeviceAddress a = card_.Allocate(4_MiB);
  const auto checkpoint = card_.allocator.pools().Checkpoint(kGraph);
  ASSERT_TRUE(card_.Share(a, 4_MiB, kSide).ok());
  ASSERT_TRUE(card_.Free(a).ok());
  const DeviceAddress other = card_.Allocate(4_MiB);
  EXPECT_TRUE(absl::IsFailedPrecondition(card_.allocator.pools().Restore(*checkpoint).status()));
  EXPECT_TRUE(card_.Free(other).ok());
  card_.streams.Finish(kSide);
  EXPECT_TRUE(absl::IsNotFound(card_.allocator.pools().Checkpoint(kOther).status()));
}

}  // namespace
}  // namespace memtrace
