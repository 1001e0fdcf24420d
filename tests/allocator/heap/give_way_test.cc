// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/give_way.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <variant>

#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using std::chrono::milliseconds;

constexpr PoolId kPool{0, 7};
constexpr milliseconds kShort{20};

// A card of 256 MiB. The driver's part of a foreign request is not simulated: what is given is free
// on the card afterwards.
class GiveWayTest : public testing::Test {
 protected:
  // Caches `bytes` whose work is unfinished.
  void Cache(Bytes bytes, StreamId stream = kMain) {
    EXPECT_TRUE(card_.Free(card_.Allocate(bytes, stream)).ok());
  }
  GiveWay::Given Give(Bytes bytes, milliseconds limit = kShort) {
    const GiveWay::Given given = give_way_.Give({.bytes = bytes, .limit = limit});
    card_.allocator.CheckInvariants();
    return given;
  }
  Bytes Free() { return card_.vmm.MemoryInfo()->free; }
  Bytes Reserved() { return card_.allocator.accounts().ledger().reserved; }
  Bytes Cached() { return card_.allocator.accounts().ledger().cached; }
  // Captures a graph into kPool that allocates `bytes`, and gives them back.
  void CaptureAndRelease(Bytes bytes) {
    auto& pools = card_.allocator.pools();
    pools.Retain(kPool);
    EXPECT_TRUE(pools.BeginRouting(kPool, [](StreamId) { return true; }).ok());
    const DeviceAddress block = card_.Allocate(bytes);
    EXPECT_TRUE(pools.EndRouting(kPool).ok());
    EXPECT_TRUE(card_.Free(block).ok());
  }

  Card card_{256_MiB};
  GiveWay& give_way_ = card_.allocator.movement().give_way();
};

TEST_F(GiveWayTest, RequestGetsWhatItLacksAndOneStepMore) {
  Cache(200_MiB);
  card_.streams.Finish(kMain);
  const GiveWay::Given given = Give(90_MiB);  // 96 MiB in whole steps; 56 MiB are free
  EXPECT_EQ(given.returned, 72_MiB);
  EXPECT_EQ(given.pending, 0);
  EXPECT_EQ(Free(), 128_MiB);
  EXPECT_EQ(Cached(), 128_MiB);
}

TEST_F(GiveWayTest, EverythingGoesIfTheDriverRefusedWhatIsFree) {
  Cache(200_MiB);
  card_.streams.Finish(kMain);
  EXPECT_EQ(Give(10_MiB).returned, 200_MiB);
  EXPECT_EQ(Reserved(), 0);
}

TEST_F(GiveWayTest, BlocksInUseStay) {
  const DeviceAddress used = card_.Allocate(100_MiB);
  Cache(100_MiB);
  card_.streams.Finish(kMain);
  EXPECT_EQ(Give(200_MiB).returned, 100_MiB);
  EXPECT_TRUE(card_.Free(used).ok());
  EXPECT_EQ(card_.vmm.faults().size(), 0);
}

TEST_F(GiveWayTest, RequestLargerThanTheCardGetsNothing) {
  Cache(200_MiB);
  card_.streams.Finish(kMain);
  EXPECT_EQ(Give(300_MiB).returned, 0);
  EXPECT_EQ(Cached(), 200_MiB);
}

TEST_F(GiveWayTest, CardWithoutMappedMemoryIsNotAsked) {
  EXPECT_EQ(Give(200_MiB).returned, 0);
  EXPECT_EQ(card_.failures.calls(DriverCall::kMemoryInfo), 0);
}

TEST_F(GiveWayTest, MemoryWithUnfinishedWorkIsKept) {
  Cache(200_MiB);
  const GiveWay::Given given = Give(200_MiB);
  EXPECT_EQ(given.returned, 0);
  EXPECT_EQ(given.pending, 200_MiB);
  EXPECT_EQ(Cached(), 200_MiB);
  EXPECT_EQ(card_.streams.live_events(), 0);
  EXPECT_TRUE(std::holds_alternative<DeviceAddress>(card_.TryAllocate(200_MiB)));
  EXPECT_EQ(card_.vmm.faults().size(), 0);
}

TEST_F(GiveWayTest, OnlyStreamsWhoseWorkIsDoneGive) {
  Cache(100_MiB, kMain);
  Cache(100_MiB, kSide);
  card_.streams.Finish(kSide);
  EXPECT_EQ(Give(250_MiB).returned, 100_MiB);
  EXPECT_EQ(card_.vmm.faults().size(), 0);
}

TEST_F(GiveWayTest, WorkThatEndsMeanwhileIsWaitedFor) {
  Cache(200_MiB);
  give_way_.Give({.bytes = 200_MiB, .limit = kShort, .continues = true});
  EXPECT_EQ(Reserved(), 200_MiB);
  EXPECT_EQ(Cached(), 200_MiB);  // leaving memory counts as cached
  EXPECT_TRUE(give_way_.Continue());
  card_.streams.Finish(kMain);
  EXPECT_FALSE(give_way_.Continue());
  card_.allocator.CheckInvariants();
  EXPECT_EQ(Reserved(), 0);
  EXPECT_EQ(give_way_.counts().times, 1);
  EXPECT_EQ(give_way_.counts().to_libraries, 200_MiB);
  EXPECT_EQ(card_.vmm.faults().size(), 0);
}

TEST_F(GiveWayTest, RequestOfTheHeapThatWouldFailGetsLeavingMemoryBack) {
  Cache(200_MiB);
  give_way_.Give({.bytes = 200_MiB, .limit = kShort, .continues = true});
  EXPECT_TRUE(std::holds_alternative<DeviceAddress>(card_.TryAllocate(200_MiB)));
  card_.streams.Finish(kMain);
  EXPECT_FALSE(give_way_.Continue());
  EXPECT_EQ(Reserved(), 200_MiB);
  EXPECT_EQ(card_.streams.live_events(), 0);
  EXPECT_EQ(card_.vmm.faults().size(), 0);
}

TEST_F(GiveWayTest, SmallRequestsAreServedBesideLeavingMemory) {
  Cache(100_MiB);
  give_way_.Give({.bytes = 250_MiB, .limit = kShort, .continues = true});
  const DeviceAddress other = card_.Allocate(20_MiB);
  card_.streams.Finish(kMain);
  EXPECT_FALSE(give_way_.Continue());
  card_.allocator.CheckInvariants();
  EXPECT_EQ(Reserved(), 20_MiB);
  EXPECT_TRUE(card_.Free(other).ok());
  EXPECT_EQ(card_.vmm.faults().size(), 0);
}

TEST_F(GiveWayTest, EmptyCacheTakesLeavingMemory) {
  Cache(100_MiB);
  give_way_.Give({.bytes = 250_MiB, .limit = kShort, .continues = true});
  EXPECT_TRUE(card_.allocator.EmptyCache().ok());
  EXPECT_EQ(Reserved(), 0);
  EXPECT_FALSE(give_way_.Continue());
}

TEST_F(GiveWayTest, SnapshotShowsLeavingMemoryAsFree) {
  Cache(100_MiB);
  give_way_.Give({.bytes = 250_MiB, .limit = kShort, .continues = true});
  EXPECT_EQ(card_.Contents(), std::vector<std::string>{"1 large: (100MiB)"});
}

TEST_F(GiveWayTest, NothingIsGivenWhileTheStreamOfTheRequestIsCaptured) {
  Cache(200_MiB);
  card_.streams.Finish(kMain);
  card_.streams.BeginCapture(kSide);
  EXPECT_EQ(give_way_.Give({.bytes = 200_MiB, .stream = kSide}).returned, 0);
  card_.streams.EndCapture(kSide);
  EXPECT_EQ(give_way_.Give({.bytes = 200_MiB, .stream = kSide}).returned, 200_MiB);
}

TEST_F(GiveWayTest, CapturedStreamsGiveNothing) {
  Cache(100_MiB, kMain);
  Cache(100_MiB, kSide);
  card_.streams.Finish(kMain);
  card_.streams.Finish(kSide);
  card_.streams.BeginCapture(kMain);
  EXPECT_EQ(Give(250_MiB).returned, 100_MiB);
  EXPECT_EQ(card_.streams.live_events(), 0);
  card_.streams.EndCapture(kMain);
}

TEST_F(GiveWayTest, PoolsOfGraphsGiveNothingUntilTheirReplaysHaveBeenWaitedFor) {
  CaptureAndRelease(100_MiB);
  card_.streams.Finish(kMain);
  EXPECT_EQ(Give(250_MiB).returned, 0);  // it has users
  EXPECT_TRUE(card_.allocator.pools().Release(kPool).ok());
  EXPECT_EQ(Give(250_MiB).returned, 0);  // a replay on another stream may go on
  EXPECT_EQ(Reserved(), 100_MiB);
}

TEST_F(GiveWayTest, FreesWhoseOtherStreamsAreDoneAreGiven) {
  const DeviceAddress block = card_.Allocate(100_MiB);
  EXPECT_TRUE(card_.Share(block, 100_MiB, kSide).ok());
  EXPECT_TRUE(card_.Free(block).ok());
  card_.streams.Finish(kMain);
  EXPECT_EQ(Give(250_MiB).returned, 0);
  card_.streams.Finish(kSide);
  EXPECT_EQ(Give(250_MiB).returned, 100_MiB);
  EXPECT_EQ(card_.vmm.faults().size(), 0);
}

TEST_F(GiveWayTest, RefusedEventOrUnmapLeavesTheMemoryFree) {
  for (const DriverCall call : {DriverCall::kRecord, DriverCall::kUnmap, DriverCall::kDone}) {
    Card card(256_MiB);
    GiveWay& give_way = card.allocator.movement().give_way();
    EXPECT_TRUE(card.Free(card.Allocate(200_MiB)).ok());
    card.streams.Finish(kMain);
    card.failures.FailNth(call, 1, CallFailures::Repeat::kFromThenOn,
                          absl::InternalError("injected"));
    EXPECT_EQ(give_way.Give({.bytes = 200_MiB, .limit = kShort}).returned, 0);
    card.allocator.CheckInvariants();
    card.failures.StopFailing();
    EXPECT_EQ(give_way.Give({.bytes = 200_MiB}).returned, 200_MiB);
    EXPECT_EQ(card.vmm.faults().size(), 0);
  }
}

// Gives way twice, the second time when the work of another stream is done, and allocates again.
void GiveWayAndGoOn(Card& card) {
  GiveWay& give_way = card.allocator.movement().give_way();
  for (const StreamId stream : {kMain, kSide}) {
    const AllocationResult block = card.TryAllocate(80_MiB, stream);
    const auto* address = std::get_if<DeviceAddress>(&block);
    if (address == nullptr) continue;
    EXPECT_TRUE(card.Free(*address).ok());
  }
  card.streams.Finish(kMain);
  give_way.Give({.bytes = 200_MiB, .limit = milliseconds(0)});
  card.allocator.CheckInvariants();
  card.streams.Finish(kSide);
  give_way.Give({.bytes = 200_MiB, .is_shortfall = true, .limit = milliseconds(0)});
  card.allocator.CheckInvariants();
  card.TryAllocate(100_MiB);
  card.allocator.CheckInvariants();
}

TEST_F(GiveWayTest, EachCallMayFailOnceOrForAWhileAndNothingIsLost) {
  GiveWayAndGoOn(card_);
  const uint64_t calls = card_.failures.calls();
  ASSERT_GT(calls, 8);
  for (const auto repeat : {CallFailures::Repeat::kOnce, CallFailures::Repeat::kFromThenOn}) {
    for (uint64_t call = 1; call <= calls; ++call) {
      Card card(256_MiB);
      card.failures.FailNthOfAny(call, repeat, absl::InternalError("injected"));
      GiveWayAndGoOn(card);
      card.failures.StopFailing();
      EXPECT_TRUE(std::holds_alternative<DeviceAddress>(card.TryAllocate(100_MiB))) << call;
      card.allocator.CheckInvariants();
      EXPECT_EQ(card.vmm.faults().size(), 0) << call;
    }
  }
}

TEST_F(GiveWayTest, OfferIsWhatCanBeGiven) {
  EXPECT_EQ(give_way_.Offer(), 0);
  Cache(100_MiB);
  card_.Allocate(10_MiB, kSide);
  EXPECT_EQ(give_way_.Offer(), 100_MiB);
}

TEST_F(GiveWayTest, NeighboursAreCountedApart) {
  Cache(100_MiB);
  card_.streams.Finish(kMain);
  give_way_.Give({.bytes = 50_MiB, .is_shortfall = true, .is_for_neighbour = true});
  EXPECT_GE(give_way_.counts().to_neighbours, 50_MiB);
  EXPECT_EQ(give_way_.counts().to_libraries, 0);
}

// A pool's own source is called under the card's lock; it may wait for a lock of the library that
// asks for room meanwhile.
class WaitingSource : public MemorySource {
 public:
  explicit WaitingSource(GiveWay& give_way) : give_way_(give_way) {}
  absl::StatusOr<DeviceAddress> Allocate(Bytes /*bytes*/, StreamId /*stream*/) override {
    std::thread([this] { given_ = give_way_.Give({.bytes = 200_MiB}).returned; }).join();
    return absl::ResourceExhaustedError("nothing");
  }
  void Free(DeviceAddress /*address*/, Bytes /*bytes*/, StreamId /*stream*/) override {}
  Bytes given() const { return given_; }

 private:
  GiveWay& give_way_;
  Bytes given_ = 1;
};

TEST_F(GiveWayTest, LockHeldByAPoolsSourceIsNotWaitedForForever) {
  Cache(100_MiB);
  card_.streams.Finish(kMain);
  auto& pools = card_.allocator.pools();
  pools.Retain(kPool);
  auto source = std::make_shared<WaitingSource>(give_way_);
  EXPECT_TRUE(pools.SetSource(kPool, source).ok());
  EXPECT_TRUE(pools.BeginRouting(kPool, [](StreamId) { return true; }).ok());
  card_.TryAllocate(10_MiB);
  EXPECT_EQ(source->given(), 0);
  EXPECT_TRUE(pools.EndRouting(kPool).ok());
}

}  // namespace
}  // namespace memtrace
