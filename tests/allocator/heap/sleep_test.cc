// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/sleep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/allocator/heap/card_with_contents.h"

namespace memtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Keep = Sleep::Keep;
using Moved = Sleep::Moved;

constexpr MovableOwner kPolicy{1};
constexpr MovableOwner kCache{2};
constexpr PoolId kPool{0, 7};

// A card, a host, and short functions for memory of movable owners. The contents of a block are the
// number that was written into it.
struct SleepyCard : CardWithContents {
  static constexpr Bytes kLargeHost = 64_GiB;  // clang 14 refuses the literal as a default argument

  explicit SleepyCard(Bytes capacity, Bytes host = kLargeHost, Bytes host_limit = ~Bytes{0})
      : CardWithContents(capacity, host, 0, {.host_limit = host_limit}) {}

  DeviceAddress Allocate(Bytes bytes, MovableOwner owner = {}, StreamId stream = kMain) {
    return std::get<DeviceAddress>(TryAllocate(bytes, owner, stream));
  }
  // Allocates a block and writes a number into it.
  DeviceAddress Write(Bytes bytes, MovableOwner owner, uint64_t number) {
    const DeviceAddress address = Allocate(bytes, owner);
    contents.Write(address.value(), bytes, number);
    return address;
  }
  std::optional<uint64_t> Read(DeviceAddress address) {
    vmm.NoteUse(address, 1, streams.Queue(kMain));
    streams.Finish(kMain);
    return contents.At(address.value());
  }
  absl::Status TryPutToSleep(MovableOwner owner, Keep keep) {
    moved = {};
    absl::Status status = sleep.PutToSleep(owner, keep, moved);
    allocator.CheckInvariants();
    return status;
  }
  Moved PutToSleep(MovableOwner owner, Keep keep) {
    EXPECT_TRUE(TryPutToSleep(owner, keep).ok());
    return moved;
  }
  absl::Status TryWake(MovableOwner owner) {
    moved = {};
    absl::Status status = sleep.Wake(owner, moved);
    allocator.CheckInvariants();
    return status;
  }
  Moved Wake(MovableOwner owner) {
    EXPECT_TRUE(TryWake(owner).ok());
    return moved;
  }
  void Free(DeviceAddress address) { FreeBlock(address); }
  Bytes Free() { return vmm.MemoryInfo()->free; }
  Bytes Allocated() { return Ledger().live_allocated; }
  Bytes Reserved() { return Ledger().reserved; }

  Sleep& sleep = allocator.movement().sleep();
  Moved moved;
};

class SleepTest : public testing::Test {
 protected:
  ~SleepTest() override { EXPECT_THAT(card_.vmm.faults(), IsEmpty()); }

  SleepyCard card_{256_MiB};
};

TEST_F(SleepTest, SleepFreesTheCardAndAWakeBringsContentsToTheSameAddress) {
  const DeviceAddress block = card_.Write(200_MiB, kPolicy, 5);
  EXPECT_EQ(card_.PutToSleep(kPolicy, Keep::kHost).bytes, 200_MiB);
  EXPECT_EQ(card_.Free(), 256_MiB);
  EXPECT_EQ(card_.Allocated(), 0);
  EXPECT_EQ(card_.Reserved(), 0);

  const DeviceAddress other = card_.Write(200_MiB, {}, 6);
  card_.Free(other);
  EXPECT_EQ(card_.Wake(kPolicy).bytes, 200_MiB);
  EXPECT_EQ(card_.Read(block), 5);
  EXPECT_EQ(card_.Allocated(), 200_MiB);
  card_.Free(block);
}

TEST_F(SleepTest, WithoutACopyAWakeBringsZeros) {
  const DeviceAddress block = card_.Write(100_MiB, kPolicy, 5);
  EXPECT_EQ(card_.PutToSleep(kPolicy, Keep::kNothing).host, 0);
  card_.Wake(kPolicy);
  EXPECT_EQ(card_.Read(block), MemoryContents::kZeros);
}

TEST_F(SleepTest, OwnersSleepApart) {
  const DeviceAddress policy = card_.Write(512, kPolicy, 5);
  const DeviceAddress cache = card_.Write(40_MiB, kCache, 6);
  const DeviceAddress beside = card_.Write(512, {}, 7);
  card_.PutToSleep(kCache, Keep::kNothing);
  EXPECT_EQ(card_.Read(policy), 5);
  EXPECT_EQ(card_.Read(beside), 7);
  EXPECT_EQ(card_.Reserved(), 4_MiB);
  card_.PutToSleep(kPolicy, Keep::kHost);
  card_.Wake(kCache);
  card_.Wake(kPolicy);
  EXPECT_EQ(card_.Read(policy), 5);
  EXPECT_EQ(card_.Read(cache), MemoryContents::kZeros);
}

TEST_F(SleepTest, SmallAndLargeRequestsShareASegmentAndEveryBlockIsRestored) {
  std::vector<DeviceAddress> blocks;
  for (uint64_t i = 1; i <= 40; ++i)
    blocks.push_back(card_.Write(i % 3 == 0 ? 3_MiB : 512 * i, kPolicy, i));
  for (size_t i = 0; i < blocks.size(); i += 4) card_.Free(blocks[i]);
  card_.PutToSleep(kPolicy, Keep::kHost);
  card_.Wake(kPolicy);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i % 4 == 0) continue;
    EXPECT_EQ(card_.Read(blocks[i]), i + 1);
  }
}

TEST_F(SleepTest, BlocksFreedAsleepGetNoMemoryAtAWake) {
  const DeviceAddress first = card_.Write(20_MiB, kPolicy, 1);
  const DeviceAddress middle = card_.Write(60_MiB, kPolicy, 2);
  const DeviceAddress last = card_.Write(20_MiB, kPolicy, 3);
  card_.PutToSleep(kPolicy, Keep::kHost);
  card_.Free(middle);
  EXPECT_EQ(card_.Wake(kPolicy).bytes, 40_MiB);
  EXPECT_EQ(card_.Read(first), 1);
  EXPECT_EQ(card_.Read(last), 3);
  EXPECT_EQ(card_.Allocate(60_MiB, kPolicy), middle);
}

TEST_F(SleepTest, RequestsOfASleepingOwnerFailAndAreServedAfterTheWake) {
  card_.Write(20_MiB, kPolicy, 1);
  card_.PutToSleep(kPolicy, Keep::kNothing);
  const AllocationResult refused = card_.TryAllocate(512, kPolicy);
  EXPECT_TRUE(absl::IsFailedPrecondition(std::get<absl::Status>(refused)));
  card_.Allocate(512, kCache);
  card_.Wake(kPolicy);
  card_.Allocate(512, kPolicy);
}

TEST_F(SleepTest, SleepingTwiceAndWakingTheAwakeAreRefused) {
  card_.Write(20_MiB, kPolicy, 1);
  EXPECT_TRUE(absl::IsNotFound(card_.TryWake(kPolicy)));
  EXPECT_TRUE(absl::IsNotFound(card_.TryPutToSleep(kCache, Keep::kHost)));
  card_.PutToSleep(kPolicy, Keep::kHost);
  EXPECT_TRUE(absl::IsAlreadyExists(card_.TryPutToSleep(kPolicy, Keep::kHost)));
  card_.Wake(kPolicy);
}

TEST_F(SleepTest, CaptureRefusesASleep) {
  const DeviceAddress block = card_.Write(20_MiB, kPolicy, 1);
  card_.streams.BeginCapture(kMain);
  EXPECT_TRUE(absl::IsUnavailable(card_.TryPutToSleep(kPolicy, Keep::kHost)));
  card_.streams.EndCapture(kMain);
  EXPECT_EQ(card_.Read(block), 1);
  card_.PutToSleep(kPolicy, Keep::kHost);
}

TEST_F(SleepTest, WorkOfAllStreamsIsWaitedFor) {
  const DeviceAddress block = card_.Write(20_MiB, kPolicy, 1);
  card_.vmm.NoteUse(block, 20_MiB, card_.streams.Queue(kSide));  // without record_stream
  card_.PutToSleep(kPolicy, Keep::kNothing);
}

TEST_F(SleepTest, FreesThatWaitForAStreamAreCompleted) {
  const DeviceAddress block = card_.Write(20_MiB, kPolicy, 1);
  card_.vmm.NoteUse(block, 20_MiB, card_.streams.Queue(kSide));
  EXPECT_TRUE(card_.allocator.RecordStream(block, kSide).ok());
  card_.Free(block);
  card_.Write(2_MiB, kPolicy, 2);
  EXPECT_EQ(card_.PutToSleep(kPolicy, Keep::kHost).bytes, 22_MiB);
  EXPECT_EQ(card_.Wake(kPolicy).bytes, 2_MiB);
}

TEST_F(SleepTest, FullCardRefusesAWakeAndNothingIsLost) {
  const DeviceAddress block = card_.Write(200_MiB, kPolicy, 5);
  card_.PutToSleep(kPolicy, Keep::kHost);
  const DeviceAddress other = card_.Allocate(100_MiB);
  EXPECT_TRUE(absl::IsResourceExhausted(card_.TryWake(kPolicy)));
  EXPECT_EQ(card_.moved.needed, 200_MiB);
  EXPECT_EQ(card_.moved.available, 156_MiB);
  card_.Free(other);
  card_.Wake(kPolicy);  // takes the cache back
  EXPECT_EQ(card_.Read(block), 5);
}

TEST_F(SleepTest, FullHostRefusesASleep) {
  SleepyCard card(256_MiB, 1_GiB, /*host_limit=*/64_MiB);
  const DeviceAddress block = card.Write(100_MiB, kPolicy, 5);
  EXPECT_TRUE(absl::IsResourceExhausted(card.TryPutToSleep(kPolicy, Keep::kHost)));
  EXPECT_EQ(card.moved.needed, 100_MiB);
  EXPECT_EQ(card.moved.available, 64_MiB);
  EXPECT_EQ(card.Read(block), 5);
  card.Allocate(512, kPolicy);  // it is awake
  card.PutToSleep(kPolicy, Keep::kNothing);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST_F(SleepTest, HostMemoryIsPooledAndGivenBackOnRequest) {
  card_.Write(100_MiB, kPolicy, 5);
  EXPECT_EQ(card_.PutToSleep(kPolicy, Keep::kHost).host, 100_MiB);
  card_.Wake(kPolicy);
  EXPECT_EQ(card_.copies.taken(), 100_MiB);
  card_.PutToSleep(kPolicy, Keep::kHost);
  EXPECT_EQ(card_.copies.taken(), 100_MiB);
  EXPECT_EQ(card_.sleep.ReleaseHostMemory(), 0);
  card_.Wake(kPolicy);
  EXPECT_EQ(card_.sleep.ReleaseHostMemory(), 100_MiB);
  EXPECT_EQ(card_.copies.taken(), 0);
}

TEST_F(SleepTest, LedgerHasWhatSleepsAndTheHostsMemoryForIt) {
  card_.Write(100_MiB, kPolicy, 5);
  card_.Write(3_MiB, kCache, 6);  // two granules
  card_.PutToSleep(kPolicy, Keep::kHost);
  card_.PutToSleep(kCache, Keep::kNothing);
  AllocatorLedger ledger = card_.allocator.accounts().ledger();
  EXPECT_EQ(ledger.asleep, 104_MiB);
  EXPECT_EQ(ledger.host_copies, 100_MiB);
  EXPECT_EQ(ledger.host_pooled, 0);
  EXPECT_EQ(ledger.reserved, 0);
  card_.Wake(kPolicy);
  card_.Wake(kCache);
  ledger = card_.allocator.accounts().ledger();
  EXPECT_EQ(ledger.asleep, 0);
  EXPECT_EQ(ledger.host_copies, 0);
  EXPECT_EQ(ledger.host_pooled, 100_MiB);
  EXPECT_EQ(ledger.live_allocated, 103_MiB);
}

TEST_F(SleepTest, ObserversSeeFreesAndAllocations) {
  card_.Write(20_MiB, kPolicy, 1);
  card_.observer.Lines();
  card_.PutToSleep(kPolicy, Keep::kHost);
  EXPECT_THAT(card_.observer.Lines(),
              ElementsAre("free requested 20MiB", "free completed 20MiB", "unmapped 20MiB"));
  card_.Wake(kPolicy);
  EXPECT_THAT(card_.observer.Lines(), ElementsAre("mapped 20MiB", "allocated 20MiB"));
}

TEST_F(SleepTest, ListOfOwnersSaysWhatSleepsAndWhereItIs) {
  card_.Write(20_MiB, kPolicy, 1);
  card_.Write(6_MiB, kCache, 2);
  card_.PutToSleep(kPolicy, Keep::kHost);
  const std::vector<Sleep::Owner> owners = card_.sleep.owners();
  ASSERT_EQ(owners.size(), 2);
  EXPECT_TRUE(owners[0].is_asleep);
  EXPECT_EQ(owners[0].asleep, 20_MiB);
  EXPECT_EQ(owners[0].host, 20_MiB);
  EXPECT_EQ(owners[0].on_card, 0);
  EXPECT_FALSE(owners[1].is_asleep);
  EXPECT_EQ(owners[1].on_card, 6_MiB);
}

TEST_F(SleepTest, MemoryOfAPoolSleepsWithItsOwnerAndSurvivesTheEndOfThePool) {
  auto& pools = card_.allocator.pools();
  pools.Retain(kPool);
  EXPECT_TRUE(pools.BeginRouting(kPool, [](StreamId) { return true; }).ok());
  const DeviceAddress block = card_.Write(20_MiB, kPolicy, 5);
  EXPECT_TRUE(pools.EndRouting(kPool).ok());
  EXPECT_TRUE(card_.PutToSleep(kPolicy, Keep::kHost).has_graph);
  EXPECT_TRUE(pools.Release(kPool).ok());
  EXPECT_TRUE(card_.allocator.EmptyCache().ok());
  card_.Wake(kPolicy);
  EXPECT_EQ(card_.Read(block), 5);
  card_.Free(block);
}

TEST_F(SleepTest, FourteenGibibytesTakeFewCalls) {
  SleepyCard card(24_GiB);
  card.Write(14_GiB, kPolicy, 5);
  const uint64_t before = card.failures.calls();
  card.PutToSleep(kPolicy, Keep::kNothing);
  const uint64_t slept = card.failures.calls();
  EXPECT_EQ(card.failures.calls(DriverCall::kUnmap), 1);
  card.Wake(kPolicy);
  EXPECT_LE(slept - before, 4);
  // Create, map and release for each of 14 chunks; access, zeros, the end of them, and the card.
  EXPECT_LE(card.failures.calls() - slept, 3 * 14 + 5);
}

TEST_F(SleepTest, SmallTensorsComeInChunksThatGrowWithTheirOwner) {
  SleepyCard card(4_GiB);
  for (int i = 0; i < 4096; ++i) card.Allocate(512_KiB, kPolicy);
  EXPECT_LE(card.failures.calls(DriverCall::kCreate), 200) << "of 1,024 granules";
  EXPECT_LE(card.Reserved(), 2_GiB + 2_GiB / 32 + 2_MiB);
  SleepyCard full(64_MiB);
  for (int i = 0; i < 64; ++i) full.Allocate(1_MiB, kPolicy);  // each of its granules is found
  EXPECT_EQ(full.Reserved(), 64_MiB);
}

// The driver refuses any one call of a sleep and a wake, once or from then on. Nothing may be lost.
TEST_F(SleepTest, AnyRefusedCallLosesNothing) {
  for (const Keep keep : {Keep::kHost, Keep::kNothing}) {
    for (uint64_t nth = 1; nth < 40; ++nth) {
      SleepyCard card(256_MiB);
      const DeviceAddress first = card.Write(70_MiB, kPolicy, 1);
      const DeviceAddress hole = card.Write(10_MiB, kPolicy, 2);
      const DeviceAddress last = card.Write(30_MiB, kPolicy, 3);
      card.Free(hole);
      card.streams.Finish(kMain);
      EXPECT_TRUE(card.allocator.EmptyCache().ok());
      card.failures.FailNthOfAny(nth, CallFailures::Repeat::kOnce, absl::InternalError("injected"));
      const bool slept = card.TryPutToSleep(kPolicy, keep).ok();
      const bool woke = slept && card.TryWake(kPolicy).ok();
      card.failures.StopFailing();
      if (!woke) card.TryWake(kPolicy).IgnoreError();
      EXPECT_TRUE(absl::IsNotFound(card.TryWake(kPolicy)));
      const bool may_be_zeros = keep == Keep::kNothing;
      for (const auto& [block, number] : {std::pair(first, 1U), {last, 3U}}) {
        const auto read = card.Read(block);
        EXPECT_TRUE(read == number || (may_be_zeros && read == MemoryContents::kZeros))
            << "call " << nth << " failed, block " << number;
      }
      EXPECT_THAT(card.vmm.faults(), IsEmpty()) << nth;
      card.Free(first);
      card.Free(last);
    }
  }
}

}  // namespace
}  // namespace memtrace
