// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "tests/allocator/heap/full_card.h"

namespace memtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SpillTest : public testing::Test {
 protected:
  ~SpillTest() override { card_.CheckContents(); }

  FullCard card_{256_MiB};
};

TEST_F(SpillTest, AFullCardServesARequestAfterAVictimHasMoved) {
  const DeviceAddress cold = card_.Write(100_MiB, 1);
  card_.Write(150_MiB, 2);
  EXPECT_TRUE(card_.Write(60_MiB, 3).is_null());
  const Spill::Moved moved = card_.Move({{cold}}, 60_MiB);
  EXPECT_TRUE(moved.status.ok());
  EXPECT_GE(moved.bytes, 60_MiB);
  EXPECT_EQ(card_.spill.on_host(), moved.bytes);
  EXPECT_FALSE(card_.Write(60_MiB, 3).is_null());
  card_.CheckContents();
}

TEST_F(SpillTest, TheRestOfABlockMovesOnlyInItsOwnClass) {
  const DeviceAddress cold = card_.Write(128_MiB, 1);
  const DeviceAddress other = card_.Write(64_MiB, 2);
  EXPECT_EQ(card_.Move({{cold}}, 64_MiB).bytes, 64_MiB);
  EXPECT_THAT(card_.spill.BlocksOnHost(), ElementsAre(cold));
  EXPECT_EQ(card_.Move({{}}, 64_MiB).bytes, 0);
  EXPECT_THAT(card_.Move({{other}, {cold}}, 128_MiB).by_class, ElementsAre(64_MiB, 64_MiB));
  EXPECT_THAT(card_.spill.BlocksOnHost(), ElementsAre(cold, other));
}

TEST_F(SpillTest, FiguresOfTheCardLeaveOutWhatIsOnTheHost) {
  const DeviceAddress cold = card_.Write(64_MiB, 1);
  card_.Write(64_MiB, 2);
  card_.Move({{cold}}, 64_MiB);
  EXPECT_EQ(card_.Ledger().on_host, 64_MiB);
  EXPECT_EQ(card_.Ledger().reserved, 64_MiB);
  EXPECT_EQ(card_.Ledger().live_allocated, 64_MiB);
  EXPECT_EQ(card_.vmm.used(), 64_MiB);
}

TEST_F(SpillTest, ObserversLearnOfBlocksBeforeTheirMemoryAndTheOtherWayRound) {
  const DeviceAddress cold = card_.Write(64_MiB, 1);
  card_.observer.Lines();
  card_.Move({{cold}}, 64_MiB);
  EXPECT_THAT(card_.observer.Lines(),
              ElementsAre("free requested 64MiB", "free completed 64MiB", "unmapped 64MiB"));
  card_.EndStep();
  EXPECT_THAT(card_.observer.Lines(), ElementsAre("mapped 64MiB", "allocated 64MiB"));
}

TEST_F(SpillTest, AChunkWithAPartOfAnotherBlockStays) {
  card_.Write(3_MiB, 1);
  const DeviceAddress cold = card_.Write(6_MiB, 2);  // from the middle of a chunk to its end
  card_.Write(5_MiB, 3);
  const Spill::Moved moved = card_.Move({{cold}}, 6_MiB);
  EXPECT_EQ(moved.bytes, 4_MiB);
  EXPECT_EQ(card_.Ledger().holes, 2_MiB) << "the card's parts of the block";
}

TEST_F(SpillTest, ClassesMoveInTheirOrder) {
  const DeviceAddress first = card_.Write(64_MiB, 1);
  const DeviceAddress second = card_.Write(64_MiB, 2);
  EXPECT_THAT(card_.Move({{second}, {first}}, 64_MiB).by_class, ElementsAre(64_MiB, 0));
  EXPECT_THAT(card_.Move({{second}, {first}}, 64_MiB).by_class, ElementsAre(0, 64_MiB));
}

TEST_F(SpillTest, ABlockFreedOnTheHostGivesTheHostsMemoryBack) {
  const DeviceAddress cold = card_.Write(64_MiB, 1);
  card_.Move({{cold}}, 64_MiB);
  card_.Free(cold);
  EXPECT_EQ(card_.spill.on_host(), 64_MiB) << "work may still use it";
  EXPECT_EQ(card_.EndStep().freed, 64_MiB);
  EXPECT_EQ(card_.vmm.on_host(), 0);
  EXPECT_FALSE(card_.Write(200_MiB, 2).is_null()) << "the addresses can be mapped again";
}

TEST_F(SpillTest, TheCardsPartOfABlockFreedOnTheHostBecomesFree) {
  const DeviceAddress cold = card_.Write(192_MiB, 1);
  EXPECT_EQ(card_.Move({{cold}}, 64_MiB).bytes, 64_MiB);
  EXPECT_EQ(card_.spill.FreeLeftBlocks(), 0) << "it is in use";
  card_.Free(cold);
  EXPECT_TRUE(card_.Write(200_MiB, 2).is_null()) << "work may still use what is left";
  EXPECT_EQ(card_.spill.FreeLeftBlocks(), 64_MiB);
  EXPECT_FALSE(card_.Write(200_MiB, 2).is_null());
}

TEST_F(SpillTest, ANeighbourThatStaysOnTheHostKeepsTheCommonChunk) {
  const DeviceAddress first = card_.Write(7_MiB, 1);
  const DeviceAddress second = card_.Write(7_MiB, 2);
  card_.Write(2_MiB, 3);
  EXPECT_EQ(card_.Move({{first, second}}, 14_MiB).bytes, 14_MiB);
  card_.Free(first);
  card_.spill.PutOnHost({}, 0);
  card_.allocator.CheckInvariants();
  card_.CheckContents();
}

TEST_F(SpillTest, WhatMovedComesBackWhenTheCardHasRoom) {
  const DeviceAddress cold = card_.Write(100_MiB, 1);
  const DeviceAddress hot = card_.Write(150_MiB, 2);
  card_.Move({{cold}}, 60_MiB);
  EXPECT_EQ(card_.EndStep().bytes, 0) << "the step needed all of the card";
  card_.Free(hot);
  EXPECT_GE(card_.EndStep().bytes, 60_MiB);
  EXPECT_EQ(card_.spill.on_host(), 0);
  EXPECT_EQ(card_.Ledger().live_allocated, 100_MiB);
  EXPECT_EQ(card_.vmm.on_host(), 0);
}

TEST_F(SpillTest, WhatLeavesAgainInTheNextStepRestsOnTheHost) {
  const DeviceAddress cold = card_.Write(64_MiB, 1);
  card_.Move({{cold}}, 64_MiB);
  EXPECT_EQ(card_.EndStep().bytes, 64_MiB);
  card_.Move({{cold}}, 64_MiB);
  for (int step = 0; step < 7; ++step) EXPECT_EQ(card_.EndStep().bytes, 0) << step;
  EXPECT_EQ(card_.EndStep().bytes, 64_MiB);
}

TEST_F(SpillTest, ABlockOnTheHostMayBeUsedOnOtherStreams) {
  const DeviceAddress cold = card_.Write(64_MiB, 1);
  card_.Move({{cold}}, 64_MiB);
  EXPECT_TRUE(card_.allocator.RecordStream(cold, StreamId{7}).ok());
  card_.EndStep();
  card_.Free(cold);
  EXPECT_FALSE(card_.allocator.Free(cold).ok()) << "it is free already";
}

TEST_F(SpillTest, WorkThatIsUnfinishedIsWaitedFor) {
  const DeviceAddress cold = card_.Write(64_MiB, 1);  // Write queues work that uses it
  card_.Move({{cold}}, 64_MiB);
  EXPECT_THAT(card_.vmm.faults(), IsEmpty());
}

TEST_F(SpillTest, TheLimitIsKept) {
  FullCard card(256_MiB, 64_GiB, /*limit=*/64_MiB);
  const DeviceAddress cold = card.Write(200_MiB, 1);
  const Spill::Moved moved = card.Move({{cold}}, 200_MiB);
  EXPECT_EQ(moved.bytes, 64_MiB);
  EXPECT_TRUE(absl::IsResourceExhausted(moved.status));
  card.CheckContents();
}

TEST_F(SpillTest, AFullHostMovesNothing) {
  FullCard card(256_MiB, /*host=*/2_MiB);
  const DeviceAddress cold = card.Write(200_MiB, 1);
  const Spill::Moved moved = card.Move({{cold}}, 64_MiB);
  EXPECT_EQ(moved.bytes, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(moved.status));
  card.CheckContents();
}

TEST_F(SpillTest, ADriverWithoutHostLocationsSaysSo) {
  FullCard card(256_MiB, /*host=*/0);
  const DeviceAddress cold = card.Write(200_MiB, 1);
  EXPECT_TRUE(absl::IsUnimplemented(card.Move({{cold}}, 64_MiB).status));
  card.CheckContents();
}

TEST_F(SpillTest, WithoutALimitItIsOff) {
  FullCard card(256_MiB, 64_GiB, /*limit=*/0);
  const DeviceAddress cold = card.Write(200_MiB, 1);
  EXPECT_FALSE(card.spill.is_on());
  EXPECT_EQ(card.Move({{cold}}, 64_MiB).bytes, 0);
}

TEST_F(SpillTest, OnlyLargeMemoryOfTheDefaultPoolMoves) {
  const DeviceAddress small = card_.Write(512, 1);
  EXPECT_EQ(card_.Move({{small}}, 2_MiB).bytes, 0);
}

// A graph's replay uses the memory of its pool, which cannot be waited for in advance.
TEST_F(SpillTest, MemoryOfAGraphsPoolStays) {
  constexpr PoolId kPool{0, 7};
  card_.allocator.pools().Retain(kPool);
  ASSERT_TRUE(card_.allocator.pools().BeginRouting(kPool, [](StreamId) { return true; }).ok());
  const DeviceAddress captured = card_.Write(64_MiB, 1);
  ASSERT_TRUE(card_.allocator.pools().EndRouting(kPool).ok());
  const DeviceAddress beside = card_.Write(64_MiB, 2);
  EXPECT_EQ(card_.Move({{captured, beside}}, 128_MiB).bytes, 64_MiB);
  EXPECT_EQ(card_.Ledger().live_allocated, 64_MiB) << "that of the pool";
}

// The other process has the chunk itself mapped.
TEST_F(SpillTest, MemoryThatAnotherProcessWasGivenStays) {
  const DeviceAddress exported = card_.Write(64_MiB, 1);
  const DeviceAddress beside = card_.Write(64_MiB, 2);
  card_.allocator.sharing().Share(exported).IgnoreError();  // this card has no descriptors
  EXPECT_EQ(card_.Move({{exported, beside}}, 128_MiB).bytes, 64_MiB);
  EXPECT_EQ(card_.Ledger().live_allocated, 64_MiB) << "the exported block";
}

// A piece can be without memory if the driver refuses to map the new chunk, and then the old ones.
TEST_F(SpillTest, AddressesWithoutMemoryAreGivenToNobody) {
  int torn = 0;
  for (uint64_t call = 1; call < 60; ++call) {
    FullCard card(256_MiB);
    const DeviceAddress cold = card.Write(64_MiB, 1);
    card.streams.Finish(kMain);
    card.failures.FailNthOfAny(call, CallFailures::Repeat::kFromThenOn, absl::InternalError(""));
    card.Move({{cold}}, 64_MiB);
    card.failures.StopFailing();
    if (!card.spill.is_torn()) continue;
    ++torn;
    card.Free(cold);
    EXPECT_NE(card.Write(64_MiB, 2), cold);
    card.CheckContents();
    card.EndStep();
    EXPECT_FALSE(card.spill.is_torn());
    EXPECT_EQ(card.Write(64_MiB, 3), cold);
    card.CheckContents();
  }
  EXPECT_GE(torn, 2);
}

// A card on which memory moves, blocks are freed, and the rest comes back.
void MoveAndBringBack(FullCard& card) {
  const DeviceAddress first = card.Write(65_MiB, 1);
  const DeviceAddress second = card.Write(61_MiB, 2);
  const DeviceAddress third = card.Write(70_MiB, 3);
  card.Move({{first, third}, {second}}, 150_MiB);
  if (card.written.contains(second)) card.Free(second);
  for (int step = 0; step < 3; ++step) card.EndStep();
}

// Lets each call fail in turn; nothing may be lost.
void MoveWithEachCallFailing(CallFailures::Repeat repeat) {
  uint64_t calls = 0;
  {
    FullCard card(256_MiB);
    MoveAndBringBack(card);
    calls = card.failures.calls();
  }
  for (uint64_t call = 1; call <= calls; ++call) {
    FullCard card(256_MiB);
    card.failures.FailNthOfAny(call, repeat, absl::InternalError("call " + std::to_string(call)));
    MoveAndBringBack(card);
    card.failures.StopFailing();
    for (int step = 0; step < 12; ++step) card.EndStep();
    card.CheckContents();
    EXPECT_EQ(card.vmm.on_host(), 0) << call;
  }
}

TEST_F(SpillTest, EachCallMayFailOnceAndNothingIsLost) {
  MoveWithEachCallFailing(CallFailures::Repeat::kOnce);
}

TEST_F(SpillTest, CallsMayFailForAWhileAndNothingIsLost) {
  MoveWithEachCallFailing(CallFailures::Repeat::kFromThenOn);
}

TEST_F(SpillTest, NothingIsLeftAtTheEnd) {
  CallFailures failures;
  MemoryStreams streams(&failures);
  MemoryContents contents;
  MemoryVmm vmm({.capacity = 256_MiB, .host = 64_GiB, .contents = &contents}, &streams, &failures);
  MemoryCopies copies(vmm, contents, 64_GiB, &failures);
  {
    WritingObserver observer;
    CachingAllocator allocator({.captures = &streams, .copies = &copies, .spill = 64_GiB}, vmm,
                               streams, observer);
    const AllocationResult block = allocator.Allocate({.bytes = 100_MiB, .stream = kMain});
    allocator.movement().spill().PutOnHost({{std::get<DeviceAddress>(block)}}, 100_MiB);
  }
  EXPECT_EQ(vmm.live_chunks(), 0);
  EXPECT_EQ(vmm.live_mappings(), 0);
  EXPECT_EQ(vmm.live_reservations(), 0);
}

}  // namespace
}  // namespace memtrace
