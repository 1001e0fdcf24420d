// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocator without an observer: streams are served under locks of their own.
#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"
#include "allocator/plan/plan.h"

namespace memtrace {
namespace {

class Nobody final : public AllocationObserver {
 public:
  Nobody() { SetObservesBlocks(false); }
};

class QuickPathTest : public ::testing::Test {
 protected:
  static constexpr int kThreads = 4;

  DeviceAddress Allocate(Bytes bytes, StreamId stream) {
    return std::get<DeviceAddress>(allocator_.Allocate(bytes, stream));
  }
  template <typename Run>
  static void InThreads(Run run) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) threads.emplace_back([run, t] { run(t); });
    for (std::thread& thread : threads) thread.join();
  }

  MemoryVmm vmm_{{.capacity = 4_GiB}};
  MemoryStreams streams_;
  Nobody nobody_;
  CachingAllocator allocator_{{}, vmm_, streams_, nobody_};
};

TEST_F(QuickPathTest, PeakIsTheSumOverConcurrentStreams) {
  std::barrier all(kThreads);
  InThreads([&](int thread) {
    const StreamId stream{static_cast<uint64_t>(thread + 1)};
    std::vector<DeviceAddress> blocks;
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 8; ++i) blocks.push_back(Allocate(4_MiB, stream));
      all.arrive_and_wait();
      for (const DeviceAddress block : blocks) EXPECT_TRUE(allocator_.Free(block).ok());
      blocks.clear();
      all.arrive_and_wait();
    }
  });
  allocator_.CheckInvariants();
  const Statistics statistics = allocator_.accounts().statistics();
  EXPECT_EQ(statistics.allocated_bytes.all.peak, int64_t{kThreads} * 8 * 4 << 20);
  EXPECT_EQ(statistics.active.large_pool.peak, kThreads * 8);
  EXPECT_EQ(statistics.allocation.all.allocated, kThreads * 8 * 200);
  EXPECT_EQ(statistics.allocation.all.freed, kThreads * 8 * 200);
  EXPECT_EQ(statistics.allocated_bytes.all.current, 0);
}

TEST_F(QuickPathTest, PeakDoesNotAddUpUseAtDifferentTimes) {
  for (uint64_t stream = 1; stream <= 3; ++stream) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(allocator_.Free(Allocate(100_MiB, StreamId{stream})).ok());
    }
  }
  EXPECT_EQ(allocator_.accounts().statistics().allocated_bytes.all.peak, 100 << 20);
}

// All streams repeatedly take back memory that others have freed, at the same time.
TEST_F(QuickPathTest, ConcurrentStreamsReclaimEachOthersMemory) {
  InThreads([&](int thread) {
    const StreamId stream{static_cast<uint64_t>(thread + 1)};
    for (int i = 0; i < 300; ++i) {
      const DeviceAddress large = Allocate(900_MiB, stream);
      const DeviceAddress small = Allocate(1000, stream);
      EXPECT_TRUE(allocator_.RecordStream(small, StreamId{99}).ok());
      EXPECT_TRUE(allocator_.Free(large).ok());
      EXPECT_TRUE(allocator_.Free(small).ok());
      EXPECT_TRUE(i % 50 != 0 || allocator_.EmptyCache().ok());
      if (i % 10 == 0) allocator_.CheckInvariants();
    }
  });
  allocator_.CheckInvariants();
  EXPECT_EQ(allocator_.accounts().statistics().allocation.all.current, 0);
  EXPECT_EQ(allocator_.accounts().statistics().num_ooms, 0);
  EXPECT_TRUE(allocator_.EmptyCache().ok());
  EXPECT_EQ(vmm_.used(), 0u);
}

// Each thread runs its cycle, now and then with other requests in between, while others hold the
// card's lock.
TEST(PlannedQuickPathTest, ConcurrentStreamsFollowTheirPlans) {
  auto plan = std::make_shared<Plan>();
  for (uint32_t stream = 0; stream < 4; ++stream) {
    plan->Add({.device = 0,
               .stream = stream,
               .bytes = 30_MiB,
               .prologue = 0,
               .items = {{10_MiB, 20_MiB}, {20_MiB, 0}, {4_MiB, 20_MiB}, {3_MiB, 27_MiB}}});
  }
  MemoryVmm vmm({.capacity = 4_GiB});
  MemoryStreams streams;
  Nobody nobody;
  CachingAllocator allocator({.plan = plan}, vmm, streams, nobody);
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&allocator, stream = StreamId{thread}] {
      const auto allocate = [&](Bytes bytes) {
        return std::get<DeviceAddress>(allocator.Allocate(bytes, stream));
      };
      const auto free = [&](DeviceAddress block) { EXPECT_TRUE(allocator.Free(block).ok()); };
      for (int step = 0; step < 300; ++step) {
        const DeviceAddress first = allocate(10_MiB);
        const DeviceAddress second = allocate(20_MiB);
        if (step % 10 == 0) free(allocate(7_MiB));
        free(first);
        free(allocate(4_MiB));
        free(allocate(3_MiB));
        free(second);
        EXPECT_TRUE(step % 100 != 0 || allocator.EmptyCache().ok());
        if (step % 20 == 0) allocator.CheckInvariants();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  allocator.CheckInvariants();
  EXPECT_EQ(allocator.accounts().plan_use(), (PlanUse{4800, 120}));
  EXPECT_EQ(allocator.accounts().statistics().allocation.all.current, 0);
}

// Uses more streams than can have a lock of their own.
TEST_F(QuickPathTest, MoreStreamsThanLocksAreServed) {
  std::vector<DeviceAddress> blocks;
  for (uint64_t stream = 1; stream <= 200; ++stream) {
    blocks.push_back(Allocate(2_MiB, StreamId{stream}));
  }
  for (const DeviceAddress block : blocks) EXPECT_TRUE(allocator_.Free(block).ok());
  EXPECT_EQ(allocator_.Free(blocks.front()).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(allocator_.Free(blocks.back()).code(), absl::StatusCode::kNotFound);
  for (uint64_t stream = 1; stream <= 200; ++stream) {
    EXPECT_EQ(Allocate(2_MiB, StreamId{stream}), blocks[stream - 1]);
  }
  allocator_.CheckInvariants();
}

}  // namespace
}  // namespace memtrace
