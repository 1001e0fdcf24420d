// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the program says about itself, and what another allocator does, as the trace shows it.
#include <gmock/gmock.h>

#include <thread>

#include "tests/interpose/core/card_process.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CAbiRecordingTest : public CardProcessTest {
 protected:
  // Returns "owner module" of every allocation.
  static std::vector<std::string> Whose(const trace::TraceReader& reader) {
    std::vector<std::string> whose;
    for (const trace::Allocate& event : EventsOf<trace::Allocate>(reader)) {
      whose.push_back(std::string(reader.String(event.owner)) + " " +
                      std::string(reader.String(event.module)));
    }
    return whose;
  }

  static void Observe(memtrace_observed_kind kind, uint64_t address, uint64_t bytes) {
    memtrace_observed event{};
    event.size = sizeof(event);
    event.kind = kind;
    event.address = address;
    event.bytes = bytes;
    memtrace_observe(&event);
  }
};

TEST_F(CAbiRecordingTest, CallsBeforeTheStartAreRecorded) {
  EXPECT_TRUE(InOwnProcess([] {
    memtrace_set_info("script", "train.py");
    memtrace_push_tag(memtrace_intern("run"));
    memtrace_push_tag(memtrace_intern("gone"));
    memtrace_pop_tag();
    memtrace_push_module(memtrace_intern("transformer.h.0"));
    memtrace_begin_step();
    memtrace_set_phase(static_cast<int>(trace::Phase::kForward));
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    Allocate(1_MiB);
    memtrace_pop_module();
    memtrace_pop_tag();
    memtrace_pop_tag();  // an extra one does no harm
    Allocate(1_MiB);
    memtrace_begin_step();
  }));
  const auto reader = Trace();
  EXPECT_EQ(reader.info().at("script"), "train.py");
  EXPECT_THAT(Whose(reader), ElementsAre("run transformer.h.0", " "));
  const auto steps = EventsOf<trace::Step>(reader);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].number, 2u);
  EXPECT_EQ(EventsOf<trace::PhaseChange>(reader).at(0).phase, trace::Phase::kForward);
}

TEST_F(CAbiRecordingTest, WithoutATraceTheAllocatorServesAndRecordsNothing) {
  EXPECT_TRUE(InOwnProcess([] {
    setenv("MEMTRACE_TRACE", "0", 1);
    memtrace_push_tag(memtrace_intern("run"));
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    memtrace_begin_step();
    memtrace_annotate("key", "value");
    void* block = Allocate(1_MiB);
    memtrace_relabel(0, reinterpret_cast<uint64_t>(block), 1_MiB, 1, 0, 0);
    EXPECT_EQ(memtrace_capture_context(), 0u);
    EXPECT_STREQ(memtrace_trace_path(), "");
    void* address = nullptr;
    memtrace_out_of_memory failure{};
    failure.size = sizeof(failure);
    EXPECT_EQ(memtrace_allocate(0, 2_GiB, 0, 0, &address, &failure), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_THAT(failure.explanation, HasSubstr("no trace is recorded"));
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    EXPECT_EQ(Current(MEMTRACE_ALLOCATED_BYTES), 0);
    memtrace_pop_tag();
    memtrace_close();
  }));
  EXPECT_TRUE(Files().empty());
}

TEST_F(CAbiRecordingTest, TagsSetBeforeTheStartStayWithTheirThread) {
  EXPECT_TRUE(InOwnProcess([] {
    std::thread([] {
      memtrace_push_tag(memtrace_intern("loader"));
      ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
      std::thread([] { Allocate(1_MiB); }).join();
      Allocate(1_MiB);
    }).join();
  }));
  EXPECT_THAT(Whose(Trace()), ElementsAre(" ", "loader "));
}

TEST_F(CAbiRecordingTest, RolesAndFactsAreWrittenOnce) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    const auto address = reinterpret_cast<uint64_t>(Allocate(1_MiB));
    for (int i = 0; i < 3; ++i) {
      memtrace_relabel(0, address, 1_MiB, static_cast<int>(trace::Role::kParameter), 0,
                       memtrace_intern("wte.weight"));
      memtrace_annotate("optimizer.class", "AdamW");
    }
  }));
  const auto reader = Trace();
  const auto labels = EventsOf<trace::Relabel>(reader);
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0].role, trace::Role::kParameter);
  EXPECT_EQ(reader.String(labels[0].path), "wte.weight");
  int said = 0;
  for (const auto& fact : EventsOf<trace::Annotate>(reader))
    said += reader.String(fact.key) == "optimizer.class" ? 1 : 0;
  EXPECT_EQ(said, 1);
}

TEST_F(CAbiRecordingTest, FactsStatedBeforeTheStartAreInTheTraceWithTheirLastValue) {
  EXPECT_TRUE(InOwnProcess([] {
    memtrace_annotate("job.groups", "one");
    memtrace_annotate("job.groups", "two");
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    memtrace_annotate("job.groups", "two");
  }));
  const auto reader = Trace();
  std::vector<std::string> said;
  for (const auto& fact : EventsOf<trace::Annotate>(reader))
    if (reader.String(fact.key) == "job.groups") said.emplace_back(reader.String(fact.value));
  EXPECT_THAT(said, ElementsAre("two"));
}

TEST_F(CAbiRecordingTest, LabelsStatedOnOutOfMemoryAreInItsExplanation) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    void* block = Allocate(600_MiB);
    memtrace_set_before_out_of_memory(
        [](void* user) {
          memtrace_relabel(0, reinterpret_cast<uint64_t>(user), 600_MiB,
                           static_cast<int>(trace::Role::kGradient), 0, 0);
          Allocate(1_MiB);  // no lock of ours is held
        },
        block);
    memtrace_out_of_memory failure{};
    failure.size = sizeof(failure);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 600_MiB, 0, 0, &address, &failure), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_THAT(failure.explanation, ::testing::HasSubstr("gradients 600.00 MiB"));
    memtrace_set_before_out_of_memory(nullptr, nullptr);
    EXPECT_EQ(memtrace_allocate(0, 600_MiB, 0, 0, &address, &failure), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_EQ(Current(MEMTRACE_REQUESTED_BYTES), static_cast<int64_t>(601_MiB));
  }));
}

TEST_F(CAbiRecordingTest, ObserveModeRecordsButDoesNotAllocate) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_OBSERVE), MEMTRACE_OK);
    EXPECT_EQ(memtrace_take_free(0, 512, 512, 0, 0), nullptr);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 512, 0, 0, &address, nullptr), MEMTRACE_INVALID_ARGUMENT);
    Observe(MEMTRACE_OBSERVED_MAP, 0x7000000, 20_MiB);
    Observe(MEMTRACE_OBSERVED_ALLOCATE, 0x7000000, 3_MiB);
    // This block was allocated before observing began.
    Observe(MEMTRACE_OBSERVED_FREE_REQUESTED, 0x9000000, 1_MiB);
    Observe(MEMTRACE_OBSERVED_FREE_COMPLETED, 0x9000000, 1_MiB);
    memtrace_observed_out_of_memory failure{};
    failure.size = sizeof(failure);
    failure.requested = 2_GiB;
    failure.device_total = 1_GiB;
    failure.device_free = 500_MiB;
    failure.limit = ~uint64_t{0};
    failure.reserved = 20_MiB;
    failure.active = failure.allocated = 3_MiB;
    memtrace_observe_out_of_memory(&failure);
  }));
  const auto reader = Trace();
  EXPECT_EQ(EventsOf<trace::Allocate>(reader).size(), 1u);
  EXPECT_EQ(EventsOf<trace::Map>(reader).size(), 1u);
  const auto failures = EventsOf<trace::OutOfMemory>(reader);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].cards.at(0).cached, 17_MiB);
  EXPECT_EQ(EventsOf<trace::CardSample>(reader).back().card.reserved, 20_MiB);
}

TEST_F(CAbiRecordingTest, EventOfAnOlderObserverIsReadUpToItsSize) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_OBSERVE), MEMTRACE_OK);
    memtrace_observed event{};
    event.size = offsetof(memtrace_observed, context);
    event.kind = MEMTRACE_OBSERVED_ALLOCATE;
    event.address = 0x7000000;
    event.bytes = 512;
    event.context = ~uint64_t{0};  // ignored, because it lies beyond the stated size
    memtrace_observe(&event);
  }));
  EXPECT_EQ(EventsOf<trace::Allocate>(Trace()).at(0).stack, 0u);
}

}  // namespace
}  // namespace memtrace
