// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Random programs of several threads, each with streams and a private pool of its own, on one card.
// Between rounds all threads stop, and the blocks that each has are compared with the allocator's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <iterator>
#include <mutex>
#include <random>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "allocator/blocks/size_policy.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"

namespace memtrace {
namespace {

class Observer final : public AllocationObserver {
 public:
  explicit Observer(bool observes_blocks) { SetObservesBlocks(observes_blocks); }
};

// Streams that threads may give work to while the allocator queries them.
class SharedStreams final : public StreamEvents {
 public:
  absl::StatusOr<EventId> Record(StreamId stream) override {
    return Locked([&] { return streams_.Record(stream); });
  }
  absl::StatusOr<bool> Done(EventId event) override {
    return Locked([&] { return streams_.Done(event); });
  }
  absl::Status Wait(EventId event) override {
    return Locked([&] { return streams_.Wait(event); });
  }
  void Forget(EventId event) override {
    Locked([&] { streams_.Forget(event); });
  }
  absl::Status WaitForAll() override {
    return Locked([&] { return streams_.WaitForAll(); });
  }
  bool IsCapturing(StreamId stream) override {
    return Locked([&] { return streams_.IsCapturing(stream); });
  }

  void Queue(StreamId stream) {
    Locked([&] { streams_.Queue(stream); });
  }
  void Finish(StreamId stream) {
    Locked([&] { streams_.Finish(stream); });
  }

 private:
  template <typename Call>
  std::invoke_result_t<Call> Locked(Call call) {
    const std::lock_guard lock(mutex_);
    return call();
  }

  std::mutex mutex_;  // the thread sanitizer misreads Debian's absl::Mutex
  MemoryStreams streams_;
};

struct InUse {
  DeviceAddress address;
  Bytes bytes = 0;
};

constexpr int kThreads = 4;
constexpr int kRounds = 60;
constexpr int kInstructions = 1000;  // of each thread in a round

class Machine {
 public:
  explicit Machine(bool is_observed) : observer_(is_observed) {}

  void Run() {
    std::barrier all(kThreads);
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, &all, t] {
        Random random(static_cast<uint64_t>(t));
        for (int round = 0; round < kRounds; ++round) {
          for (int i = 0; i < kInstructions; ++i) Perform(t, random);
          all.arrive_and_wait();
          if (t == 0) CheckAll();
          all.arrive_and_wait();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  using Random = std::mt19937_64;

  static StreamId StreamOf(int thread, uint64_t which) {
    return StreamId{static_cast<uint64_t>(thread) * 2 + which};
  }
  static PoolId PoolOf(int thread) { return {0, static_cast<uint64_t>(thread) + 1}; }

  void Perform(int thread, Random& random) {
    std::vector<InUse>& mine = in_use_[static_cast<size_t>(thread)];
    const StreamId stream = StreamOf(thread, random() % 2);
    const uint64_t dice = random() % 1000;
    if (dice < 480) {
      static constexpr Bytes kMost[] = {4_KiB, 4_KiB, 4_KiB, 1_MiB, 9_MiB, 30_MiB};
      Allocate(mine, 1 + random() % kMost[random() % std::size(kMost)], stream);
    } else if (dice < 920) {
      if (!mine.empty()) Free(mine, random() % mine.size());
    } else if (dice < 950) {
      if (!mine.empty()) Share(mine[random() % mine.size()], StreamOf(0, random() % 8));
    } else if (dice < 980) {
      streams_.Finish(StreamOf(0, random() % 8));
    } else if (dice < 985) {
      EXPECT_TRUE(allocator_.EmptyCache().ok());
    } else if (dice < 990) {
      TurnPool(thread);
    } else if (dice < 992) {
      allocator_.SetLimit(random() % 2 == 0 ? ~Bytes{0} : 200_MiB + random() % 100_MiB);
    } else {
      EXPECT_GE(allocator_.accounts().statistics().num_ooms, 0);
    }
  }

  void Allocate(std::vector<InUse>& mine, Bytes bytes, StreamId stream) {
    const AllocationResult result = allocator_.Allocate(bytes, stream);
    EXPECT_FALSE(std::holds_alternative<absl::Status>(result));
    const auto* address = std::get_if<DeviceAddress>(&result);
    if (address == nullptr) return;
    mine.push_back({*address, bytes});
    streams_.Queue(stream);
  }

  void Free(std::vector<InUse>& mine, size_t index) {
    EXPECT_TRUE(allocator_.Free(mine[index].address).ok());
    mine[index] = mine.back();
    mine.pop_back();
  }

  void Share(const InUse& block, StreamId stream) {
    streams_.Queue(stream);
    EXPECT_TRUE(allocator_.RecordStream(block.address, stream).ok());
  }

  // Begins or ends the routing of one of the thread's streams to its pool.
  void TurnPool(int thread) {
    bool& is_open = is_open_[static_cast<size_t>(thread)].value;
    const PoolId pool = PoolOf(thread);
    if (is_open) {
      EXPECT_TRUE(allocator_.pools().EndRouting(pool).ok());
      EXPECT_TRUE(allocator_.pools().Release(pool).ok());
    } else {
      allocator_.pools().Retain(pool);
      const StreamId mine = StreamOf(thread, 0);
      EXPECT_TRUE(
          allocator_.pools().BeginRouting(pool, [mine](StreamId s) { return s == mine; }).ok());
    }
    is_open = !is_open;
  }

  void CheckAll() {
    allocator_.CheckInvariants();
    std::vector<InUse> all;
    for (const auto& some : in_use_) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end(),
              [](const InUse& a, const InUse& b) { return a.address < b.address; });
    Bytes requested = 0;
    Bytes allocated = 0;
    DeviceAddress end;
    for (const InUse& block : all) {
      EXPECT_GE(block.address, end) << "two blocks overlap";
      end = block.address + RoundedSize(block.bytes);
      requested += block.bytes;
      allocated += RoundedSize(block.bytes);
    }
    const AllocatorLedger ledger = allocator_.accounts().ledger();
    EXPECT_EQ(ledger.live_requested, requested);
    EXPECT_EQ(ledger.live_allocated, allocated);
    EXPECT_EQ(ledger.reserved, vmm_.used());
    const Statistics statistics = allocator_.accounts().statistics();
    EXPECT_EQ(statistics.allocation.all.current, static_cast<int64_t>(all.size()));
    EXPECT_GE(statistics.allocated_bytes.all.peak, static_cast<int64_t>(allocated));
  }

  struct alignas(64) Flag {
    bool value = false;
  };

  SharedStreams streams_;
  MemoryVmm vmm_{{.capacity = 384_MiB}};
  Observer observer_;
  CachingAllocator allocator_{{}, vmm_, streams_, observer_};
  std::array<std::vector<InUse>, kThreads> in_use_;
  std::array<Flag, kThreads> is_open_;
};

TEST(ThreadedProgramTest, ThreadsAgreeWithTheAllocator) { Machine(/*is_observed=*/false).Run(); }

TEST(ThreadedProgramTest, ThreadsAgreeWithTheAllocatorAndItsObserver) {
  Machine(/*is_observed=*/true).Run();
}

}  // namespace
}  // namespace memtrace
