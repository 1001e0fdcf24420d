// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts every use of the host's heap in this program; so it is a program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "allocator/caching_allocator.h"
#include "allocator/memory_streams.h"
#include "allocator/memory_vmm.h"

namespace {
std::atomic<int64_t> heap_allocations{0};
}  // namespace

void* operator new(size_t size) {
  ++heap_allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace memtrace {
namespace {

// One step of a workload with fixed shapes: many sizes, freed in another order, some shared.
class FixedStep {
 public:
  void Run() {
    blocks_.clear();
    for (uint64_t i = 0; i < kBlocks; ++i) {
      const Bytes bytes = 1 + (i * i * 7919) % 3_MiB;
      blocks_.push_back(std::get<DeviceAddress>(allocator_.Allocate(bytes, kStream, i)));
      EXPECT_TRUE(i % 5 != 0 || allocator_.RecordStream(blocks_.back(), kOther).ok());
    }
    for (uint64_t i = 0; i < kBlocks; ++i) {
      EXPECT_TRUE(allocator_.Free(blocks_[(i * 37) % kBlocks]).ok());
    }
    streams_.Finish(kOther);
  }
  uint64_t CallsForMemory() const {
    return failures_.calls(DriverCall::kCreate) + failures_.calls(DriverCall::kMap) +
           failures_.calls(DriverCall::kUnmap) + failures_.calls(DriverCall::kReserve) +
           failures_.calls(DriverCall::kWait);
  }

 private:
  static constexpr uint64_t kBlocks = 500;
  static constexpr StreamId kStream{1};
  static constexpr StreamId kOther{2};

  CallFailures failures_;
  MemoryStreams streams_{&failures_};
  MemoryVmm vmm_{{.capacity = 4_GiB}, &streams_, &failures_};
  AllocationObserver silent_;
  CachingAllocator allocator_{{}, vmm_, streams_, silent_};
  std::vector<DeviceAddress> blocks_;
};

TEST(SteadyStateTest, NeitherHostMemoryNorTheDriverIsAskedAfterTheThirdStep) {
  FixedStep step;
  for (int i = 0; i < 3; ++i) step.Run();
  const int64_t heap_before = heap_allocations;
  const uint64_t calls_before = step.CallsForMemory();
  for (int i = 0; i < 20; ++i) step.Run();
  EXPECT_EQ(heap_allocations - heap_before, 0);
  EXPECT_EQ(step.CallsForMemory() - calls_before, 0u);
}

}  // namespace
}  // namespace memtrace
