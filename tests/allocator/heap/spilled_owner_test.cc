// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of movable owners that moves to the host, and that sleeps and wakes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/allocator/heap/full_card.h"

namespace memtrace {
namespace {

using testing::ElementsAre;
using Keep = Sleep::Keep;

constexpr MovableOwner kReference{1};

class SpilledOwnerTest : public testing::Test {
 protected:
  ~SpilledOwnerTest() override { card_.CheckContents(); }

  absl::Status PutToSleep(Keep keep = Keep::kHost) {
    moved_ = {};
    absl::Status status = card_.allocator.movement().sleep().PutToSleep(kReference, keep, moved_);
    card_.allocator.CheckInvariants();
    return status;
  }
  absl::Status Wake() {
    moved_ = {};
    absl::Status status = card_.allocator.movement().sleep().Wake(kReference, moved_);
    card_.allocator.CheckInvariants();
    return status;
  }

  FullCard card_{256_MiB};
  Sleep::Moved moved_;
};

TEST_F(SpilledOwnerTest, MemoryOfAnOwnerMovesAndComesBack) {
  const DeviceAddress block = card_.Write(100_MiB, 1, kReference);
  EXPECT_GE(card_.Move({{block}}, 60_MiB).bytes, 60_MiB);
  card_.CheckContents();
  EXPECT_GE(card_.EndStep().bytes, 60_MiB);
  EXPECT_EQ(card_.Ledger().live_allocated, 100_MiB);
}

TEST_F(SpilledOwnerTest, ChunksAreSmallEnoughToMove) {
  const DeviceAddress block = card_.Write(200_MiB, 1, kReference);
  EXPECT_EQ(card_.Move({{block}}, 1).bytes, 64_MiB);
}

TEST_F(SpilledOwnerTest, TheRestOfABlockIsStillTheOwners) {
  const DeviceAddress block = card_.Write(200_MiB, 1, kReference);
  card_.Move({{block}}, 1);
  EXPECT_THAT(card_.spill.OfMovableOwners({block}), ElementsAre(block));
  EXPECT_EQ(card_.Move({{block}}, 1).bytes, 64_MiB);
}

TEST_F(SpilledOwnerTest, OnlyBlocksOfOwnersAreOnesOfMovableOwners) {
  const DeviceAddress block = card_.Write(20_MiB, 1, kReference);
  const DeviceAddress other = card_.Write(20_MiB, 2);
  EXPECT_THAT(card_.spill.OfMovableOwners({other, block, DeviceAddress{512}}), ElementsAre(block));
}

TEST_F(SpilledOwnerTest, WhatIsOnTheHostSleepsAndWakesOnTheCard) {
  const DeviceAddress block = card_.Write(100_MiB, 1, kReference);
  card_.Move({{block}}, 60_MiB);
  const Bytes on_host = card_.spill.on_host();
  ASSERT_TRUE(PutToSleep().ok());
  EXPECT_EQ(moved_.bytes, 100_MiB - on_host) << "of the card";
  EXPECT_EQ(card_.spill.on_host(), 0);
  EXPECT_EQ(card_.vmm.on_host(), 0);
  EXPECT_EQ(card_.Ledger().asleep, 100_MiB);
  EXPECT_EQ(card_.Ledger().reserved, 0);
  ASSERT_TRUE(Wake().ok());
  EXPECT_EQ(moved_.bytes, 100_MiB);
  EXPECT_EQ(card_.spill.on_host(), 0);
  EXPECT_EQ(card_.Ledger().live_allocated, 100_MiB);
}

TEST_F(SpilledOwnerTest, ObserversSeeEachBlockFreedOnce) {
  const DeviceAddress block = card_.Write(64_MiB, 1, kReference);
  card_.Move({{block}}, 64_MiB);
  card_.observer.Lines();
  ASSERT_TRUE(PutToSleep().ok());
  EXPECT_THAT(card_.observer.Lines(), ElementsAre());
  ASSERT_TRUE(Wake().ok());
  EXPECT_THAT(card_.observer.Lines(), ElementsAre("mapped 64MiB", "allocated 64MiB"));
}

TEST_F(SpilledOwnerTest, SleepingMemoryDoesNotMove) {
  const DeviceAddress block = card_.Write(64_MiB, 1, kReference);
  ASSERT_TRUE(PutToSleep().ok());
  EXPECT_EQ(card_.Move({{block}}, 64_MiB).bytes, 0);
  ASSERT_TRUE(Wake().ok());
}

// The neighbour on the host keeps a chunk that has a part of the freed block.
TEST_F(SpilledOwnerTest, BlocksFreedOnTheHostAreFreeAfterTheWake) {
  const DeviceAddress first = card_.Write(7_MiB, 1, kReference);
  const DeviceAddress second = card_.Write(7_MiB, 2, kReference);
  card_.Write(2_MiB, 3, kReference);
  ASSERT_EQ(card_.Move({{first, second}}, 14_MiB).bytes, 14_MiB);
  card_.Free(first);
  ASSERT_TRUE(PutToSleep().ok());
  EXPECT_EQ(card_.Ledger().asleep, 10_MiB) << "from the chunk in which the second block begins";
  ASSERT_TRUE(Wake().ok());
  EXPECT_FALSE(card_.Write(7_MiB, 4, kReference).is_null());
}

TEST_F(SpilledOwnerTest, WhatARefusedSleepLeftOnTheHostIsNotTakenForTheCards) {
  card_.Write(65_MiB, 1, kReference);
  const DeviceAddress second = card_.Write(60_MiB, 2, kReference);
  ASSERT_GE(card_.Move({{second}}, 30_MiB).bytes, 30_MiB);
  card_.failures.FailNth(DriverCall::kUnmap, 1, CallFailures::Repeat::kFromThenOn,
                         absl::InternalError("refused"));
  EXPECT_FALSE(PutToSleep().ok());
  card_.failures.StopFailing();
  card_.Free(second);
  EXPECT_TRUE(card_.Write(250_MiB, 3).is_null()) << "the sleeping memory is still on the card";
  ASSERT_TRUE(Wake().ok());
  EXPECT_EQ(card_.vmm.on_host(), 0);
}

TEST_F(SpilledOwnerTest, AWakeNeedsRoomForWhatARefusedSleepLeftOnTheHost) {
  const DeviceAddress block = card_.Write(100_MiB, 1, kReference);
  ASSERT_EQ(card_.Move({{block}}, 1).bytes, 64_MiB);
  card_.failures.FailNth(DriverCall::kUnmap, 1, CallFailures::Repeat::kFromThenOn,
                         absl::InternalError("refused"));
  EXPECT_FALSE(PutToSleep().ok());
  card_.failures.StopFailing();
  const DeviceAddress other = card_.Write(200_MiB, 2);
  EXPECT_TRUE(absl::IsResourceExhausted(Wake()));
  EXPECT_EQ(moved_.needed, 64_MiB);
  EXPECT_EQ(moved_.available, 20_MiB);
  card_.Free(other);
  ASSERT_TRUE(Wake().ok());
}

// Moves memory of an owner, and lets it sleep and wake.
void SleepOnTheHost(FullCard& card) {
  Sleep& sleep = card.allocator.movement().sleep();
  const DeviceAddress first = card.Write(65_MiB, 1, kReference);
  const DeviceAddress second = card.Write(30_MiB, 2, kReference);
  card.Move({{first}, {second}}, 80_MiB);
  Sleep::Moved moved;
  sleep.PutToSleep(kReference, Keep::kHost, moved).IgnoreError();
  card.allocator.CheckInvariants();
  if (card.written.contains(second)) card.Free(second);
  sleep.Wake(kReference, moved).IgnoreError();
  card.allocator.CheckInvariants();
}

void SleepOnTheHostWithEachCallFailing(CallFailures::Repeat repeat) {
  uint64_t calls = 0;
  {
    FullCard card(256_MiB);
    SleepOnTheHost(card);
    calls = card.failures.calls();
  }
  ASSERT_GT(calls, 20);
  for (uint64_t call = 1; call <= calls; ++call) {
    FullCard card(256_MiB);
    card.failures.FailNthOfAny(call, repeat, absl::InternalError("call " + std::to_string(call)));
    SleepOnTheHost(card);
    card.failures.StopFailing();
    Sleep::Moved moved;
    const absl::Status woken = card.allocator.movement().sleep().Wake(kReference, moved);
    EXPECT_TRUE(woken.ok() || absl::IsNotFound(woken)) << call << woken;
    card.allocator.CheckInvariants();
    for (int step = 0; step < 12; ++step) card.EndStep();
    card.CheckContents();
    EXPECT_EQ(card.vmm.on_host(), 0) << call;
  }
}

TEST_F(SpilledOwnerTest, EachCallMayFailOnceAndNothingIsLost) {
  SleepOnTheHostWithEachCallFailing(CallFailures::Repeat::kOnce);
}

TEST_F(SpilledOwnerTest, CallsMayFailForAWhileAndNothingIsLost) {
  SleepOnTheHostWithEachCallFailing(CallFailures::Repeat::kFromThenOn);
}

}  // namespace
}  // namespace memtrace
