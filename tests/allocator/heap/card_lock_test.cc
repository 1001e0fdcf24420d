// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/card_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "allocator/heap/card_accounts.h"
#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

class CardLockTest : public HeapParts {
 protected:
  ~CardLockTest() override { lock_.Lock(); }
  // True if a free block can be served without the heap.
  bool ServesQuickly(Bytes size) {
    const DeviceAddress address = quick_.TryAllocate(kMain, size, size, ContextId{0});
    return address != DeviceAddress{} && quick_.TryFree(address);
  }
  // Runs `act` under the lock.
  template <typename Act>
  void Locked(Act act) {
    lock_.Lock();
    act();
    lock_.Unlock();
  }

  CardLock lock_{quick_, heap_};
  CardAccounts accounts_{lock_, heap_};
};

TEST_F(CardLockTest, HolderExcludesTheQuickPath) {
  Locked([&] { Free(Allocate(4_MiB)); });
  lock_.Lock();
  std::atomic<bool> served = false;
  std::thread other([&] { served = ServesQuickly(4_MiB); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(served);
  lock_.Unlock();
  other.join();
  EXPECT_TRUE(served);
}

TEST_F(CardLockTest, QuickPathIsClosedWhileAFreeIsPending) {
  DeviceAddress shared = {};
  Locked([&] {
    shared = Allocate(4_MiB);
    Share(shared, kSide);
    Free(Allocate(4_MiB));
  });
  EXPECT_TRUE(ServesQuickly(4_MiB));
  Locked([&] { Free(shared); });
  EXPECT_FALSE(ServesQuickly(4_MiB));
  streams_.Finish(kSide);
  Locked([&] { heap_.waiting().CompleteDone(kMain); });
  EXPECT_TRUE(ServesQuickly(4_MiB));
}

TEST_F(CardLockTest, QuickPathIsClosedWhileRequestsAreRouted) {
  Locked([&] {
    Free(Allocate(4_MiB));
    heap_.pools().Retain(kPool);
    EXPECT_TRUE(heap_.pools().BeginRouting(kPool, [](StreamId) { return false; }).ok());
  });
  EXPECT_FALSE(ServesQuickly(4_MiB));
  Locked([&] { EXPECT_TRUE(heap_.pools().EndRouting(kPool).ok()); });
  EXPECT_TRUE(ServesQuickly(4_MiB));
}

// A recently freed block is in no figure of the ledger until it is merged.
TEST_F(CardLockTest, AccountsIncludeRecentlyFreedBlocks) {
  Locked([&] { Free(Allocate(4_MiB)); });
  const AllocatorLedger ledger = accounts_.ledger();
  EXPECT_EQ(ledger.cached, 4_MiB);
  EXPECT_EQ(ledger.reserved, 4_MiB);
}

TEST_F(CardLockTest, AccountsWithoutAPlanCountNoPlaces) {
  Locked([&] { Allocate(4_MiB); });
  EXPECT_EQ(accounts_.plan_use().placed, 0U);
  EXPECT_EQ(accounts_.plan_use().elsewhere, 0U);
}

TEST_F(CardLockTest, AccountsReportMemoryByPool) {
  Locked([&] {
    Allocate(4_MiB);
    AllocateIn(kPool, 6_MiB);
  });
  const auto by_pool = accounts_.by_pool();
  ASSERT_EQ(by_pool.size(), 1U);
  EXPECT_EQ(by_pool.begin()->first, kPool);
  EXPECT_EQ(by_pool.begin()->second.all.current, static_cast<int64_t>(6_MiB));
}

}  // namespace
}  // namespace memtrace
