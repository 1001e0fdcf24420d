// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Several cards, threads, forks and the end of the process.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/interpose/core/card_process.h"

namespace {
std::atomic<bool> is_forked_from_threads = false;
}

// LeakSanitizer calls this at the end of a process. glibc's list for the end of a thread
// (__cxa_thread_atexit_impl) is reachable only from that thread: in a child forked while other
// threads of the parent had such lists, they count as leaked, although nothing can free them.
extern "C" int __lsan_is_turned_off() {  // NOLINT(readability-identifier-naming): its name
  return is_forked_from_threads ? 1 : 0;
}

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class CAbiProcessTest : public CardProcessTest {
 protected:
  static void Start(int cards = 1) {
    ASSERT_EQ(memtrace_start(cards, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK) << memtrace_last_error();
  }
};

TEST_F(CAbiProcessTest, MemoryIsFreedOnItsOwnCard) {
  UseCard("1GiB;2GiB");
  EXPECT_TRUE(InOwnProcess([] {
    Start(2);
    void* first = Allocate(3_MiB, 0);
    void* second = Allocate(5_MiB, 1);
    EXPECT_EQ(memtrace_record_stream(second, 0), MEMTRACE_OK);
    EXPECT_EQ(memtrace_deallocate(second), MEMTRACE_OK);
    EXPECT_EQ(Current(MEMTRACE_REQUESTED_BYTES, 0), static_cast<int64_t>(3_MiB));
    EXPECT_EQ(Current(MEMTRACE_REQUESTED_BYTES, 1), 0);
    EXPECT_EQ(memtrace_deallocate(first), MEMTRACE_OK);
    EXPECT_EQ(memtrace_empty_cache(), MEMTRACE_OK);
    EXPECT_EQ(Current(MEMTRACE_RESERVED_BYTES, 0) + Current(MEMTRACE_RESERVED_BYTES, 1), 0);
  }));
}

TEST_F(CAbiProcessTest, OutOfMemoryHasTheLedgersOfAllCards) {
  UseCard("1GiB;2GiB");
  EXPECT_TRUE(InOwnProcess([] {
    Start(2);
    Allocate(5_MiB, 0);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(1, 3_GiB, 0, 0, &address, nullptr), MEMTRACE_OUT_OF_MEMORY);
  }));
  const auto failure = EventsOf<trace::OutOfMemory>(Trace()).at(0);
  EXPECT_EQ(failure.device, 1);
  ASSERT_EQ(failure.cards.size(), 2u);
  EXPECT_EQ(failure.cards[0].live_requested, 5_MiB);
  EXPECT_EQ(failure.cards[1].total, 2_GiB);
}

TEST_F(CAbiProcessTest, FailedStartCanBeRetried) {
  EXPECT_TRUE(InOwnProcess([] {
    EXPECT_EQ(memtrace_start(3, MEMTRACE_MODE_ALLOCATE), MEMTRACE_INTERNAL);
    EXPECT_THAT(memtrace_last_error(), HasSubstr("cuDeviceGet"));
    Start(1);
    Allocate(1_MiB);
  }));
}

TEST_F(CAbiProcessTest, ThreadsShareTheCardWithoutLostEvents) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 500;
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    std::vector<std::thread> threads(kThreads);
    for (std::thread& thread : threads) {
      thread = std::thread([] {
        memtrace_push_tag(memtrace_intern("worker"));
        for (size_t i = 0; i < kEach; ++i) {
          EXPECT_EQ(memtrace_deallocate(Allocate(512 + i)), MEMTRACE_OK);
          if (i % 100 == 0) memtrace_begin_step();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Current(MEMTRACE_REQUESTED_BYTES), 0);
  }));
  const auto reader = Trace();
  EXPECT_EQ(EventsOf<trace::Allocate>(reader).size(), kThreads * kEach);
  EXPECT_EQ(reader.completeness().lost_events, 0u);
}

TEST_F(CAbiProcessTest, StartingFromManyThreadsStartsOnce) {
  EXPECT_TRUE(InOwnProcess([] {
    std::vector<std::thread> threads(8);
    for (std::thread& thread : threads) {
      thread = std::thread([] {
        Start();
        Allocate(1_MiB);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }));
  EXPECT_THAT(Files(), ElementsAre("run.trace"));
  EXPECT_EQ(EventsOf<trace::Allocate>(Trace()).size(), 8u);
}

TEST_F(CAbiProcessTest, AllocationContinuesAfterTheTraceIsClosed) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    void* block = Allocate(3_MiB);
    memtrace_close();
    memtrace_close();
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    Allocate(5_MiB);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 2_GiB, 0, 0, &address, nullptr), MEMTRACE_OUT_OF_MEMORY);
    memtrace_push_tag(memtrace_intern("late"));
    memtrace_begin_step();
  }));
  const auto reader = Trace();
  EXPECT_TRUE(reader.completeness().closed);
  EXPECT_EQ(EventsOf<trace::Allocate>(reader).size(), 1u);
  EXPECT_EQ(EventsOf<trace::FreeRequested>(reader).size(), 0u);
  EXPECT_EQ(EventsOf<trace::CardSample>(reader).back().card.live_requested, 3_MiB);
}

// Stands for a program's exit handler, or a static object's destructor, that runs after ours.
void UseAtTheEnd() {
  void* address = nullptr;
  const bool is_served = memtrace_allocate(0, 1_MiB, 0, 0, &address, nullptr) == MEMTRACE_OK &&
                         memtrace_record_stream(address, 0) == MEMTRACE_OK &&
                         memtrace_deallocate(address) == MEMTRACE_OK &&
                         memtrace_deallocate(address) == MEMTRACE_INVALID_ARGUMENT &&
                         memtrace_empty_cache() == MEMTRACE_OK;
  if (!is_served) _exit(1);
}

TEST_F(CAbiProcessTest, CallsAfterTheExitHandlerAreServed) {
  EXPECT_TRUE(InOwnProcess([] {
    std::atexit(UseAtTheEnd);  // before ours is registered, so that it runs after ours
    Start();
    Allocate(3_MiB);
  }));
  EXPECT_EQ(EventsOf<trace::Allocate>(Trace()).size(), 1u);
}

TEST_F(CAbiProcessTest, ProcessThatEndsWithoutExitLeavesAReadableTrace) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    Allocate(3_MiB);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }));
  const auto reader = Trace();
  EXPECT_FALSE(reader.completeness().closed);
  EXPECT_EQ(EventsOf<trace::Allocate>(reader).size(), 1u);
}

TEST_F(CAbiProcessTest, UnwritableTraceDoesNotStopTheProgram) {
  setenv("MEMTRACE_OUTPUT", (folder_ / "missing" / "run.trace").c_str(), 1);
  EXPECT_TRUE(InOwnProcess([] {
    ::testing::internal::CaptureStderr();
    Start();
    memtrace_begin_step();
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, StartsWith("memtrace: No trace is written"));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
    EXPECT_STREQ(memtrace_trace_path(), "");
    Allocate(3_MiB);
    memtrace_push_tag(memtrace_intern("policy"));
    memtrace_out_of_memory failure{};
    failure.size = sizeof(failure);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 2_GiB, 0, 0, &address, &failure), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_THAT(failure.explanation,
                HasSubstr("The card is too small for this request: it has 1.00 GiB"));
  }));
}

TEST_F(CAbiProcessTest, ForkedChildWritesNothingAndFreesWithoutError) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    void* block = Allocate(3_MiB);
    EXPECT_EQ(memtrace_deallocate(Allocate(512)), MEMTRACE_OK);
    EXPECT_TRUE(InOwnProcess([block] {
      EXPECT_EQ(memtrace_take_free(0, 512, 512, 0, 0), nullptr);
      EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
      void* address = nullptr;
      EXPECT_EQ(memtrace_allocate(0, 512, 0, 0, &address, nullptr), MEMTRACE_INTERNAL);
      EXPECT_THAT(memtrace_last_error(), HasSubstr("'spawn'"));
      EXPECT_EQ(memtrace_record_stream(block, 0), MEMTRACE_INTERNAL);
      EXPECT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_INTERNAL);
      EXPECT_STREQ(memtrace_trace_path(), "");
      memtrace_push_tag(memtrace_intern("child"));
      memtrace_begin_step();
      memtrace_annotate("who", "child");
      memtrace_close();
    }));
    Allocate(5_MiB);
  }));
  EXPECT_THAT(Files(), ElementsAre("run.trace"));
  const auto reader = Trace();
  EXPECT_TRUE(reader.completeness().whole());
  EXPECT_EQ(EventsOf<trace::Allocate>(reader).size(), 3u);
  EXPECT_TRUE(EventsOf<trace::Step>(reader).empty());
}

TEST_F(CAbiProcessTest, ChildForkedBeforeTheStartHasItsOwnTrace) {
  EXPECT_TRUE(InOwnProcess([] {
    memtrace_push_tag(memtrace_intern("parent"));
    EXPECT_TRUE(InOwnProcess([] {
      Start();
      Allocate(3_MiB);
    }));
    Start();
    Allocate(5_MiB);
  }));
  EXPECT_THAT(Files(), UnorderedElementsAre("run.trace", StartsWith("run.trace.")));
}

// Locks that threads of the parent hold at the fork have no holder in the child.
TEST_F(CAbiProcessTest, ForkDuringAllocationsDoesNotDeadlockTheChild) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    std::atomic<bool> is_over = false;
    std::vector<std::thread> threads(3);
    for (size_t n = 0; n < threads.size(); ++n) {
      threads[n] = std::thread([&is_over, n] {
        for (size_t i = 0; !is_over; ++i) {
          static_cast<void>(memtrace_deallocate(Allocate(1_MiB)));
          memtrace_push_tag(memtrace_intern(std::to_string(100 * n + i % 100).c_str()));
          memtrace_pop_tag();
          memtrace_set_info("turn", std::to_string(i).c_str());
        }
      });
    }
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(InOwnProcess([] {
        is_forked_from_threads = true;
        alarm(20);
        memtrace_push_tag(memtrace_intern("child"));
        memtrace_set_info("who", "child");
        static_cast<void>(memtrace_deallocate(nullptr));
        memtrace_close();
      }));
    }
    is_over = true;
    for (std::thread& thread : threads) thread.join();
  }));
  EXPECT_TRUE(Trace().completeness().whole());
}

}  // namespace
}  // namespace memtrace
