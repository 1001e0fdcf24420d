// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Whoever is called while the driver works for us (a profiler, another tool, the driver's own
// callbacks) may use memtrace in turn, in that thread and in others: no lock of the recorder's is
// held around a call of the driver, and of the allocator's only that of the card that it maps for
// (docs/design/allocator.md). A deadlock ends the process by its alarm.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "interpose/simulated_card/interface/card_listener.h"
#include "tests/interpose/core/card_process.h"

namespace memtrace {
namespace {

constexpr unsigned kSeconds = 60;

std::atomic<void (*)()> within_driver_call = nullptr;
std::atomic<int> driver_calls = 0;
thread_local bool is_within = false;

void Enter(const memtrace_card_call* /*call*/) {
  void (*body)() = within_driver_call.load();
  if (body == nullptr || is_within) return;
  is_within = true;
  ++driver_calls;
  body();
  std::thread([body] {
    is_within = true;
    body();
  }).join();
  is_within = false;
}

constexpr memtrace_card_listener kListener = {
    .enters = Enter, .leaves = [](const auto*) {}, .happens = [](const auto*) {}};

// Makes all statements that a program can make, and all requests to the recorder.
void SayEverything() {
  memtrace_push_tag(memtrace_intern("tool"));
  memtrace_push_module(memtrace_intern("a.module"));
  EXPECT_NE(memtrace_capture_context(), 0u);
  EXPECT_NE(memtrace_capture_native_context(nullptr), 0u);
  memtrace_relabel(0, 1, 1, static_cast<int>(trace::Role::kWorkspace), 0, 0);
  constexpr uint64_t kLabel[MEMTRACE_LABEL_WORDS] = {0, 1, 1, 1, 0};
  memtrace_relabel_all(static_cast<int>(trace::Role::kWorkspace), kLabel, 1);
  memtrace_annotate("a", "b");
  memtrace_set_phase(static_cast<int>(trace::Phase::kForward));
  memtrace_enter_scope(memtrace_current_scope());
  memtrace_leave_scope();
  memtrace_pop_module();
  memtrace_pop_tag();
}

void TakeAndGiveBackOutside() {
  memtrace_outside memory{};
  memory.size = sizeof(memory);
  memory.kind = MEMTRACE_OUTSIDE_HOST;
  memory.address = 0x1000;
  memory.bytes = 4096;
  memory.caller = __builtin_return_address(0);
  memtrace_outside_allocated(&memory);
  memtrace_outside_freed(memory.address, &memory);
}

class CAbiDriverCallTest : public CardProcessTest {
 protected:
  // Runs `body` within the first process's calls of the driver for memory that is mapped and given
  // back.
  static void Within(void (*body)()) {
    alarm(kSeconds);
    ASSERT_TRUE(memtrace_card_listen(&kListener));
    within_driver_call = body;
    void* address = Allocate(100_MiB);
    EXPECT_EQ(memtrace_deallocate(address), MEMTRACE_OK);
    EXPECT_EQ(memtrace_empty_cache(), MEMTRACE_OK);
    within_driver_call = nullptr;
    EXPECT_GE(driver_calls.load(), 4) << "created, mapped, unmapped, released";
    alarm(0);
  }
};

TEST_F(CAbiDriverCallTest, RecorderCanBeCalledWithinADriverCall) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    Within(SayEverything);
  }));
  EXPECT_TRUE(Trace().completeness().closed);
}

TEST_F(CAbiDriverCallTest, OutsideMemoryIsRecordedWithinADriverCall) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    Within(TakeAndGiveBackOutside);
  }));
  EXPECT_EQ(EventsOf<trace::OutsideAllocate>(Trace()).empty(), false);
}

TEST_F(CAbiDriverCallTest, AnotherCardCanAllocateWithinADriverCall) {
  UseCard("2x1GiB,context=0MiB");
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(2, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    Allocate(1_MiB, 1);  // so that emptying the caches needs no driver call
    Within([] {
      void* address = Allocate(1_MiB, 1);
      EXPECT_EQ(memtrace_deallocate(address), MEMTRACE_OK);
    });
  }));
}

}  // namespace
}  // namespace memtrace
