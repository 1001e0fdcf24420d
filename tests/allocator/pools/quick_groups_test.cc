// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/quick_groups.h"

#include <gtest/gtest.h>

#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

// Between Lock and Unlock the heap may be used, as CardLock ensures; otherwise only the quick
// groups.
class QuickGroupsTest : public HeapParts {
 protected:
  void Lock() {
    quick_.LockAll();
    is_locked_ = true;
  }
  void Unlock(bool is_open = true) {
    quick_.UnlockAll(is_open);
    is_locked_ = false;
  }
  DeviceAddress Try(Bytes size, StreamId stream = kMain) {
    return quick_.TryAllocate(stream, size, size, ContextId{0});
  }
  ~QuickGroupsTest() override {
    if (!is_locked_) Lock();
  }

 private:
  bool is_locked_ = true;
};

TEST_F(QuickGroupsTest, FreeBlockOfTheSameStreamIsServed) {
  const DeviceAddress address = Allocate(4_MiB);
  Unlock();
  EXPECT_EQ(Try(4_MiB), DeviceAddress{});
  EXPECT_TRUE(quick_.TryFree(address));
  EXPECT_EQ(Try(4_MiB, kSide), DeviceAddress{}) << "there is no such group";
  EXPECT_EQ(Try(4_MiB), address);
  EXPECT_TRUE(quick_.TryFree(address));
}

// While a free must be completed, or requests are routed, the heap decides.
TEST_F(QuickGroupsTest, ClosedGroupFreesBlocksButServesNone) {
  const DeviceAddress first = Allocate(4_MiB);
  Unlock(/*is_open=*/false);
  EXPECT_TRUE(quick_.TryFree(first));
  EXPECT_EQ(Try(4_MiB), DeviceAddress{});
  Lock();
  Unlock();
  EXPECT_EQ(Try(4_MiB), first);
}

TEST_F(QuickGroupsTest, BlockThatAnotherStreamUsesIsNotFreed) {
  const DeviceAddress address = Allocate(4_MiB);
  Unlock();
  EXPECT_TRUE(quick_.TryRecordStream(address, kMain)) << "its own";
  EXPECT_TRUE(quick_.TryFree(address));
  EXPECT_EQ(Try(4_MiB), address);
  EXPECT_TRUE(quick_.TryRecordStream(address, kSide));
  EXPECT_FALSE(quick_.TryFree(address));
}

TEST_F(QuickGroupsTest, OnlyTheFirstAddressOfABlockInUseIsAccepted) {
  const DeviceAddress address = Allocate(4_MiB);
  Unlock();
  for (const DeviceAddress wrong : {address + 512, address - 512, DeviceAddress{}}) {
    EXPECT_FALSE(quick_.TryFree(wrong));
    EXPECT_FALSE(quick_.TryRecordStream(wrong, kSide));
  }
  EXPECT_TRUE(quick_.TryFree(address));
  EXPECT_FALSE(quick_.TryFree(address));
}

TEST_F(QuickGroupsTest, AddressIsFoundInTheSegmentThatContainsIt) {
  Allocate(4_MiB);
  const Reservation& reservation = Group().segments().all().front()->reservation();
  const DeviceAddress begin = reservation.address();
  const DeviceAddress end = begin + reservation.range().size();
  EXPECT_EQ(quick_.At(begin), &Group());
  EXPECT_EQ(quick_.At(end - 1), &Group());
  EXPECT_EQ(quick_.At(end), nullptr);
  EXPECT_EQ(quick_.At(begin - 1), nullptr);
  const DeviceAddress small = Allocate(512);
  const DeviceAddress side = Allocate(4_MiB, kSide);
  EXPECT_EQ(quick_.At(begin), &Group()) << "what was seen last is not taken for another";
  EXPECT_EQ(quick_.At(small), &Group(kMain, /*small=*/true));
  EXPECT_EQ(quick_.At(side), &Group(kSide));
  EXPECT_EQ(quick_.At(begin), &Group());
}

TEST_F(QuickGroupsTest, PrivatePoolsAreLeftToTheHeap) {
  const DeviceAddress pooled = AllocateIn(kPool, 4_MiB);
  EXPECT_EQ(quick_.At(pooled), nullptr);
  Unlock();
  EXPECT_FALSE(quick_.TryFree(pooled));
  EXPECT_EQ(Try(4_MiB), DeviceAddress{});
}

TEST_F(QuickGroupsTest, StreamsBeyondTheLimitAreLeftToTheHeap) {
  for (uint64_t stream = 1; stream <= 63; ++stream) Group(StreamId{stream});
  const DeviceAddress last_kept = Allocate(4_MiB, StreamId{64});
  const DeviceAddress past = Allocate(4_MiB, StreamId{65});
  Unlock();
  EXPECT_TRUE(quick_.TryFree(last_kept));
  EXPECT_EQ(Try(4_MiB, StreamId{64}), last_kept);
  EXPECT_FALSE(quick_.TryFree(past));
  EXPECT_EQ(quick_.At(past), nullptr);
  Lock();
  Free(past);
  Unlock();
  EXPECT_EQ(Try(4_MiB, StreamId{65}), DeviceAddress{});
}

}  // namespace
}  // namespace memtrace
