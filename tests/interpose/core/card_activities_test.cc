// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// MEMTRACE_CUPTI: what the simulated card's CUPTI tells, as the trace shows it.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "interpose/simulated_card/interface/library_calls.h"
#include "tests/interpose/core/card_process.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kSlack = 1'000'000'000;  // because other clocks are used
constexpr char kKernel = 0;                 // any address can stand for the host's side of a kernel

class CardActivitiesTest : public CardProcessTest {
 protected:
  void SetUp() override {
    CardProcessTest::SetUp();
    setenv("MEMTRACE_CUPTI", "1", 1);
  }
  void TearDown() override {
    unsetenv("MEMTRACE_CUPTI");
    CardProcessTest::TearDown();
  }

  static void Start() {
    memtrace_card_register_kernel(&kKernel, "_Z4geluPf");
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
  }
  static void Launch() {
    ASSERT_EQ(cudaLaunchKernel(&kKernel, dim3(7), dim3(128), nullptr, 0, nullptr), cudaSuccess);
  }

  // Returns the allocation to which each kernel is tied, counted from 1; 0: none.
  static std::vector<size_t> Ties(const trace::TraceReader& reader) {
    std::vector<uint64_t> births = {0};
    std::vector<uint64_t> blocks;
    reader.ForEach([&](const trace::Event& event) {
      if (std::holds_alternative<trace::Allocate>(event.payload)) births.push_back(event.sequence);
      const auto* activity = std::get_if<trace::Activity>(&event.payload);
      if (activity != nullptr && activity->kind == trace::ActivityKind::kKernel) {
        EXPECT_EQ(reader.String(activity->name), "_Z4geluPf");
        EXPECT_LE(activity->start_ns, event.time_ns + kSlack);
        blocks.push_back(activity->block);
      }
    });
    std::vector<size_t> ties;
    for (const uint64_t block : blocks) {
      const auto birth = std::find(births.begin(), births.end(), block);
      EXPECT_NE(birth, births.end());
      ties.push_back(static_cast<size_t>(birth - births.begin()));
    }
    return ties;
  }
  // Returns the values that a fact had, in order.
  static std::vector<std::string> Facts(const trace::TraceReader& reader, std::string_view key) {
    std::vector<std::string> values;
    for (const trace::Annotate& fact : EventsOf<trace::Annotate>(reader)) {
      if (reader.String(fact.key) == key) values.emplace_back(reader.String(fact.value));
    }
    return values;
  }
};

TEST_F(CardActivitiesTest, KernelIsTiedToTheLastAllocationOfItsThread) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    Launch();
    Allocate(1_MiB);
    Launch();
    Allocate(1_MiB);
    std::thread([] {
      Allocate(1_MiB);
      Launch();
    }).join();
    Launch();
    Launch();
    memtrace_set_phase(static_cast<int>(trace::Phase::kOptimizer));
    Launch();
  }));
  const auto reader = Trace();
  EXPECT_THAT(Ties(reader), ElementsAre(0, 1, 3, 2, 2, 0));
  EXPECT_THAT(Facts(reader, "cupti.state"), ElementsAre("on"));
  EXPECT_THAT(Facts(reader, "cupti.dropped"), ElementsAre("0"));
}

TEST_F(CardActivitiesTest, CopiesFillsAndDriverMemoryAreRecorded) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    char* block = static_cast<char*>(Allocate(1_MiB));
    const std::vector<char> host(5000);
    ASSERT_EQ(cudaMemcpy(block, host.data(), 5000, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(cudaMemset(block, 0, 3000), cudaSuccess);
    void* other = nullptr;
    ASSERT_EQ(cudaMalloc(&other, 2_MiB), cudaSuccess);
  }));
  const auto reader = Trace();
  std::vector<std::string> told;
  for (const trace::Activity& activity : EventsOf<trace::Activity>(reader)) {
    told.push_back(std::string(ActivityKindName(activity.kind)) + " " +
                   std::to_string(activity.bytes) + " " +
                   std::string(reader.String(activity.name)));
  }
  EXPECT_THAT(told,
              testing::IsSupersetOf({"copy 5000 HtoD", "fill 3000 ", "memory_given 2097152 "}));
}

TEST_F(CardActivitiesTest, BeginStepFlushesActivitiesBeforeAKill) {
  EXPECT_FALSE(InOwnProcess([] {
    Start();
    Allocate(1_MiB);
    for (int i = 0; i < 100; ++i) Launch();
    memtrace_begin_step();
    Launch();
    raise(SIGKILL);
  }));
  EXPECT_THAT(Ties(Trace()), SizeIs(100));
}

TEST_F(CardActivitiesTest, PauseForAnotherCuptiToolIsRecordedAsAGap) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    Allocate(1_MiB);
    Launch();
    memtrace_pause_activities();
    memtrace_pause_activities();
    Launch();
    memtrace_resume_activities();
    Launch();
    memtrace_resume_activities();
    memtrace_resume_activities();  // an extra one does no harm
    Allocate(1_MiB);
    Launch();
  }));
  const auto reader = Trace();
  EXPECT_THAT(Ties(reader), ElementsAre(1, 2));
  EXPECT_THAT(Facts(reader, "cupti.state"), ElementsAre("on", "paused", "on"));
  EXPECT_THAT(Facts(reader, "cupti.reason"), ElementsAre(HasSubstr("torch.profiler")));
}

TEST_F(CardActivitiesTest, WithoutTheVariableNoActivitiesAreRecorded) {
  unsetenv("MEMTRACE_CUPTI");
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    Allocate(1_MiB);
    Launch();
    memtrace_pause_activities();
    memtrace_resume_activities();
  }));
  const auto reader = Trace();
  EXPECT_THAT(EventsOf<trace::Activity>(reader), IsEmpty());
  EXPECT_THAT(Facts(reader, "cupti.state"), IsEmpty());
}

TEST_F(CardActivitiesTest, MissingLibraryIsRecordedAndTheProgramContinues) {
  setenv("MEMTRACE_CUPTI", "/nowhere/libcupti.so.13", 1);
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    Allocate(1_MiB);
    Launch();
    memtrace_begin_step();
  }));
  const auto reader = Trace();
  EXPECT_THAT(EventsOf<trace::Activity>(reader), IsEmpty());
  EXPECT_THAT(Facts(reader, "cupti.state"), ElementsAre("absent"));
  EXPECT_THAT(Facts(reader, "cupti.reason"), ElementsAre(HasSubstr("/nowhere/libcupti.so.13")));
}

TEST_F(CardActivitiesTest, FailingCuptiIsRecordedWithItsReason) {
  setenv("MEMTRACE_CUPTI", MEMTRACE_REFUSING_CUPTI, 1);
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    Allocate(1_MiB);
    Launch();
    memtrace_pause_activities();
    memtrace_resume_activities();
  }));
  const auto reader = Trace();
  EXPECT_THAT(EventsOf<trace::Allocate>(reader), SizeIs(1));
  EXPECT_THAT(EventsOf<trace::Activity>(reader), IsEmpty());
  EXPECT_THAT(Facts(reader, "cupti.state"), ElementsAre("refused"));
  EXPECT_THAT(Facts(reader, "cupti.reason"),
              ElementsAre(HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")));
}

TEST_F(CardActivitiesTest, ForkedChildDoesNotUseCupti) {
  EXPECT_TRUE(InOwnProcess([] {
    Start();
    Allocate(1_MiB);
    Launch();
    EXPECT_TRUE(InOwnProcess([] {
      memtrace_capture_context();
      memtrace_set_phase(static_cast<int>(trace::Phase::kForward));
      memtrace_pause_activities();
      memtrace_resume_activities();
    }));
    Launch();
  }));
  EXPECT_THAT(Ties(Trace()), ElementsAre(1, 1));
}

}  // namespace
}  // namespace memtrace
