// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts every use of the host's heap in this program, and is therefore a separate program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "allocator/blocks/size_policy.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"
#include "allocator/plan/plan.h"

namespace {
std::atomic<int64_t> heap_allocations{0};
}  // namespace

void* operator new(size_t size, const std::nothrow_t&) noexcept {  // called by std::inplace_merge
  ++heap_allocations;
  return std::malloc(size);
}
void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace memtrace {
namespace {

// One step of a workload with fixed shapes: many sizes, freed in another order, some shared.
class FixedStep {
 public:
  explicit FixedStep(std::shared_ptr<const Plan> plan = nullptr)
      : allocator_({.plan = std::move(plan)}, vmm_, streams_, silent_) {}

  // Returns a plan in which every large block has a place of its own.
  static std::shared_ptr<const Plan> PlanOfIt() {
    PlanSection section;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      const Bytes size = RoundedSize(SizeOf(i));
      if (IsSmall(size)) continue;
      section.items.push_back({size, section.bytes});
      section.bytes += size;
    }
    auto plan = std::make_shared<Plan>();
    plan->Add(std::move(section));
    return plan;
  }

  void Run() {
    blocks_.clear();
    for (uint64_t i = 0; i < kBlocks; ++i) {
      blocks_.push_back(
          std::get<DeviceAddress>(allocator_.Allocate(SizeOf(i), kStream, ContextId{i})));
      EXPECT_TRUE(i % 5 != 0 || allocator_.RecordStream(blocks_.back(), kOther).ok());
    }
    for (uint64_t i = 0; i < kBlocks; ++i) {
      EXPECT_TRUE(allocator_.Free(blocks_[(i * 37) % kBlocks]).ok());
    }
    streams_.Finish(kOther);
  }
  PlanUse plan_use() const { return allocator_.accounts().plan_use(); }
  uint64_t CallsForMemory() const {
    return failures_.calls(DriverCall::kCreate) + failures_.calls(DriverCall::kMap) +
           failures_.calls(DriverCall::kUnmap) + failures_.calls(DriverCall::kReserve) +
           failures_.calls(DriverCall::kWait);
  }

 private:
  static Bytes SizeOf(uint64_t i) { return 1 + (i * i * 7919) % 3_MiB; }

  static constexpr uint64_t kBlocks = 500;
  static constexpr StreamId kStream{1};
  static constexpr StreamId kOther{2};

  CallFailures failures_;
  MemoryStreams streams_{&failures_};
  MemoryVmm vmm_{{.capacity = 4_GiB}, &streams_, &failures_};
  AllocationObserver silent_;
  CachingAllocator allocator_;
  std::vector<DeviceAddress> blocks_;
};

void ExpectASteadyState(FixedStep& step) {
  for (int i = 0; i < 3; ++i) step.Run();
  const int64_t heap_before = heap_allocations;
  const uint64_t calls_before = step.CallsForMemory();
  for (int i = 0; i < 20; ++i) step.Run();
  EXPECT_EQ(heap_allocations - heap_before, 0);
  EXPECT_EQ(step.CallsForMemory() - calls_before, 0u);
}

TEST(SteadyStateTest, NoHostAllocationOrDriverCallAfterTheThirdStep) {
  FixedStep step;
  ExpectASteadyState(step);
}

TEST(SteadyStateTest, NoHostAllocationOrDriverCallWithAPlan) {
  FixedStep step(FixedStep::PlanOfIt());
  ExpectASteadyState(step);
  EXPECT_GT(step.plan_use().placed, 23u * 300);
  EXPECT_EQ(step.plan_use().elsewhere, 0u);
}

}  // namespace
}  // namespace memtrace
