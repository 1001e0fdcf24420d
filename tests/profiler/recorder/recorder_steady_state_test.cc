// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts every use of the host's heap in this program, including malloc's own, and is therefore a
// separate program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "tests/profiler/recorder/recorder_fixture.h"

extern "C" {
void* __libc_malloc(size_t size);                 // NOLINT: glibc's
void* __libc_calloc(size_t count, size_t size);   // NOLINT
void* __libc_realloc(void* memory, size_t size);  // NOLINT
}

namespace {
std::atomic<int64_t> heap_allocations{0};
}  // namespace

// A program's functions take precedence over glibc's, also in its libraries.
extern "C" void* malloc(size_t size) noexcept {
  ++heap_allocations;
  return __libc_malloc(size);
}
extern "C" void* calloc(size_t count, size_t size) noexcept {
  ++heap_allocations;
  return __libc_calloc(count, size);
}
extern "C" void* realloc(void* memory, size_t size) noexcept {
  ++heap_allocations;
  return __libc_realloc(memory, size);
}

namespace memtrace::recorder {
namespace {

constexpr int kBlocks = 500;

BlockEvent Block(int number, ContextId context) {
  const Bytes bytes = 1000 + static_cast<Bytes>(number) * 4096;
  return {.device = DeviceIndex{0},
          .stream = StreamId{0},
          .pool = {},
          .address = DeviceAddress{0x7f0000000000} + static_cast<Bytes>(number) * 4_MiB,
          .requested = bytes,
          .allocated = RoundUp(bytes, 512),
          .context = context};
}

// The calls of a training step: phases, a known stack, a label, a free of each kind.
class Step {
 public:
  explicit Step(Recorder& recorder) : recorder_(recorder) {
    for (uintptr_t code = 1; code <= 40; ++code) stack_.push_back({nullptr, 1});
    for (size_t i = 0; i < stack_.size(); ++i)
      stack_[i].code = reinterpret_cast<const void*>(i + 1);  // NOLINT: a number
  }

  void Run() {
    recorder_.program().SetPhase(trace::Phase::kForward);
    for (int i = 0; i < kBlocks; ++i) Allocate(i);
    recorder_.program().SetPhase(trace::Phase::kBackward);
    for (int i = 0; i < kBlocks; ++i) Free((i * 37) % kBlocks);
  }

 private:
  void Allocate(int i) {
    recorder_.scopes().PushTag("policy");
    recorder_.scopes().PushModule("model.layers.3.mlp");
    const ContextId context = recorder_.scopes().CurrentContext(recorder_.stacks().Intern(stack_));
    const BlockEvent block = Block(i, context);
    recorder_.blocks().Allocated(block);
    recorder_.blocks().Relabel(block.device, block.address, block.requested,
                               trace::Role::kParameter, "policy", "model.layers.3.mlp.weight");
    recorder_.scopes().PopModule();
    recorder_.scopes().PopTag();
  }
  void Free(int i) {
    const BlockEvent block = Block(i, ContextId{});
    if (i % 2 == 0) return recorder_.blocks().Freed(block);
    recorder_.blocks().FreeRequested(block);
    recorder_.blocks().FreeCompleted(block);
  }

  Recorder& recorder_;
  std::vector<RawFrame> stack_;
};

TEST(RecorderSteadyStateTest, HeapAllocationsAreCounted) {
  const int64_t before = heap_allocations;
  static void* volatile kept = nullptr;  // otherwise the compiler removes both
  kept = malloc(1);
  free(kept);
  kept = operator new(1);
  operator delete(kept);
  EXPECT_GE(heap_allocations - before, 2);
}

// The file grows by 1 MiB now and then, which uses the kernel's memory, not the heap.
TEST(RecorderSteadyStateTest, RepeatedStepAllocatesNoHeapMemory) {
  RecordedRun run;
  Step step(run.recorder());
  for (int i = 0; i < 5; ++i) step.Run();
  const int64_t before = heap_allocations;
  for (int i = 0; i < 100; ++i) step.Run();
  EXPECT_EQ(heap_allocations - before, 0);
  EXPECT_EQ(run.recorder().trace().lost_events(), 0u);
}

}  // namespace
}  // namespace memtrace::recorder
