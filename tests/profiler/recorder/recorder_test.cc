// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "tests/profiler/recorder/recorder_fixture.h"

namespace memtrace::recorder {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using trace::Phase;
using trace::Role;

constexpr DeviceIndex kCard{0};

TEST(RecorderTest, ObservedEventsAreWrittenInOrder) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  recorder.blocks().Reserved(
      {.stream = StreamId{7}, .pool = {}, .address = DeviceAddress{0x100000}, .size = 4_MiB});
  recorder.blocks().Mapped(
      {.stream = StreamId{7}, .pool = {}, .address = DeviceAddress{0x100000}, .size = 2_MiB});
  recorder.blocks().Allocated({.stream = StreamId{7},
                               .pool = {.first = 0, .second = 3},
                               .address = DeviceAddress{0x100000},
                               .requested = 500,
                               .allocated = 512});
  run.Free(DeviceAddress{0x100000}, 500);
  recorder.blocks().Unmapped({.pool = {}, .address = DeviceAddress{0x100000}, .size = 2_MiB});
  EXPECT_THAT(run.Lines(),
              ElementsAre("reserve 0 0x100000 size=4194304 stream=7",
                          "map 0 0x100000 size=2097152 stream=7",
                          "alloc 0 0x100000 requested=500 allocated=512 stream=7 pool=1",
                          "free_requested 0 0x100000", "free_completed 0 0x100000",
                          "unmap 0 0x100000 size=2097152"));
}

// The second thread allocates in between, and the third operation allocates nothing.
TEST(RecorderTest, ActivityIsTiedToTheLastBlockOfItsOperation) {
  RecordedRun run;
  run.Allocate(DeviceAddress{0x200}, 1);  // 1: before activities are tied
  run.recorder().blocks().TieActivities();
  const uint64_t first = OperationBlocks::Begin();
  run.Allocate(DeviceAddress{0x400}, 1);
  uint64_t second = 0;
  std::thread([&] {
    second = OperationBlocks::Begin();
    run.Allocate(DeviceAddress{0x600}, 1);
  }).join();
  run.Allocate(DeviceAddress{0x800}, 1);
  const uint64_t third = OperationBlocks::Begin();
  OperationBlocks::End();
  run.Allocate(DeviceAddress{0xa00}, 1);
  const trace::Activity kernel{.stream = 7, .duration_ns = 9};
  run.recorder().blocks().NoteActivities({{{kernel, "gelu", first},
                                           {kernel, "gelu", second},
                                           {kernel, "relu", third},
                                           {kernel, "relu", 0}}});
  const auto lines = run.Lines();
  EXPECT_THAT(std::vector(lines.end() - 4, lines.end()),
              ElementsAre("activity 0 kernel duration=9 stream=7 name=gelu block=4",
                          "activity 0 kernel duration=9 stream=7 name=gelu block=3",
                          "activity 0 kernel duration=9 stream=7 name=relu",
                          "activity 0 kernel duration=9 stream=7 name=relu"));
}

TEST(RecorderTest, TagsNestAndReachAllocations) {
  RecordedRun run;
  run.recorder().scopes().PushTag("run");
  run.recorder().scopes().PushTag("policy");
  run.Allocate(DeviceAddress{0x200}, 1);
  run.recorder().scopes().PopTag();
  run.Allocate(DeviceAddress{0x400}, 1);
  run.recorder().scopes().PopTag();
  run.recorder().scopes().PopTag();  // one too many
  run.Allocate(DeviceAddress{0x600}, 1);
  const auto lines = run.Lines();
  EXPECT_THAT(lines[2], testing::EndsWith("owner=run/policy"));
  EXPECT_THAT(lines[4], testing::EndsWith("owner=run"));
  EXPECT_THAT(lines.back(), testing::EndsWith("allocated=512"));
}

TEST(RecorderTest, InnermostModuleIsNamedByItsFullPath) {
  RecordedRun run;
  run.recorder().scopes().PushModule("transformer.h.3");
  run.recorder().scopes().PushModule("transformer.h.3.mlp");
  run.Allocate(DeviceAddress{0x200}, 1);
  run.recorder().scopes().PopModule();
  run.Allocate(DeviceAddress{0x400}, 1);
  EXPECT_THAT(run.Lines(), ElementsAre(testing::EndsWith("module=transformer.h.3.mlp"),
                                       testing::EndsWith("module=transformer.h.3")));
}

TEST(RecorderTest, PopsMatchBeyondTheMaximumDepth) {
  RecordedRun run;
  run.recorder().scopes().PushTag("base");
  for (uint32_t i = 0; i < 2 * TagScopes::kMaxDepth; ++i) run.recorder().scopes().PushTag("x");
  for (uint32_t i = 0; i < 2 * TagScopes::kMaxDepth; ++i) run.recorder().scopes().PopTag();
  run.Allocate(DeviceAddress{0x200}, 1);
  EXPECT_THAT(run.Lines().back(), testing::EndsWith("owner=base"));
}

TEST(RecorderTest, EachThreadHasItsOwnTags) {
  RecordedRun run;
  run.recorder().scopes().PushTag("outer");
  std::thread([&] { run.Allocate(DeviceAddress{0x200}, 1); }).join();
  EXPECT_THAT(run.Lines().back(), testing::EndsWith("allocated=512"));
}

TEST(RecorderTest, RepeatedLabelsFactsAndPhasesAreWrittenOnce) {
  RecordedRun run;
  Recorder& recorder = run.recorder();
  EXPECT_EQ(recorder.program().SetPhase(Phase::kForward), Phase::kOther);
  EXPECT_EQ(recorder.program().SetPhase(Phase::kForward), Phase::kForward);
  run.Allocate(DeviceAddress{0x200}, 100);
  for (int step = 0; step < 3; ++step) {
    recorder.blocks().Relabel(kCard, DeviceAddress{0x200}, 100, Role::kParameter, "", "h.0.weight");
    recorder.program().Annotate("optimizer.class", "AdamW");
  }
  recorder.program().Annotate("optimizer.class", "SGD");
  EXPECT_EQ(recorder.program().BeginStep(), 1U);
  EXPECT_THAT(
      run.Lines(),
      ElementsAre("phase forward micro_batch=1", "alloc 0 0x200 requested=100 allocated=512",
                  "relabel 0 0x200 role=parameter path=h.0.weight",
                  "annotate optimizer.class AdamW", "annotate optimizer.class SGD", "step 1"));
}

TEST(RecorderTest, OnlyPartialLabelsHaveASizeAndEmptyOnesAreNotWritten) {
  RecordedRun run;
  run.Allocate(DeviceAddress{0x200}, 100);
  for (const Bytes size : {40U, 100U, 0U})
    run.recorder().blocks().Relabel(kCard, DeviceAddress{0x200}, size, Role::kParameter, "", "w");
  run.recorder().blocks().Relabel(kCard, DeviceAddress{0x210}, 40, Role::kParameter, "", "w");
  EXPECT_THAT(run.Lines(), ElementsAre("alloc 0 0x200 requested=100 allocated=512",
                                       "relabel 0 0x200 size=40 role=parameter path=w",
                                       "relabel 0 0x200 role=parameter path=w",
                                       "relabel 0 0x210 size=40 role=parameter path=w"));
}

TEST(RecorderTest, ReusedAddressIsLabelledAgain) {
  RecordedRun run;
  for (int i = 0; i < 2; ++i) {
    run.Allocate(DeviceAddress{0x200}, 100);
    run.recorder().blocks().Relabel(kCard, DeviceAddress{0x200}, 100, Role::kGradient, "", "w");
    run.Free(DeviceAddress{0x200}, 100);
  }
  EXPECT_EQ(run.Lines().size(), 8U);
}

TEST(RecorderTest, TopOwnersAreNamedWithRoleAndBytes) {
  RecordedRun run;
  run.recorder().scopes().PushTag("edited_model");
  run.Allocate(DeviceAddress{0x1000}, 300);
  run.recorder().scopes().PopTag();
  run.Allocate(DeviceAddress{0x2000}, 200);
  run.recorder().blocks().Relabel(kCard, DeviceAddress{0x1000}, 300, Role::kParameter, "", "");
  run.recorder().program().SetPhase(Phase::kOptimizer);
  run.Allocate(DeviceAddress{0x3000}, 100);
  EXPECT_THAT(
      run.recorder().blocks().TopOwners(kCard, 3),
      ElementsAre(FieldsAre(Role::kParameter, "edited_model", 300),
                  FieldsAre(Role::kUnknown, "", 200), FieldsAre(Role::kTemporary, "", 100)));
}

TEST(RecorderTest, OutOfMemoryIsWrittenOnlyWithTheLedgersOfAllCards) {
  RecordedRun run;
  run.recorder().scopes().PushTag("policy");
  const OutOfMemoryEvent event{.pool = {},
                               .requested = 700,
                               .allocated = 1024,
                               .obtainable = 512,
                               .limit = ~uint64_t{0},
                               .context = run.recorder().scopes().CurrentContext(0),
                               .ledger = {}};
  run.recorder().blocks().OutOfMemory(event);
  const std::vector<trace::CardLedger> cards = {{.total = 10}, {.device = 1, .total = 20}};
  run.recorder().blocks().NoteOutOfMemory(event, cards);
  const auto lines = run.Lines();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "out_of_memory 0 requested=700 allocated=1024 obtainable=512 owner=policy");
  EXPECT_EQ(lines[3], "  card 1 total=20");
}

TEST(RecorderTest, NamesAndOwnersWorkWithoutAFile) {
  NumberSymbolizer symbolizer;
  Recorder recorder(trace::TraceWriter::Stopped(absl::PermissionDeniedError("no")), symbolizer);
  recorder.scopes().PushTag("policy");
  recorder.blocks().Allocated(
      {.pool = {}, .requested = 100, .context = recorder.scopes().CurrentContext(0)});
  EXPECT_EQ(recorder.blocks().TopOwners(kCard, 1).at(0).owner, "policy");
  EXPECT_EQ(recorder.trace().lost_events(), 2U);
  EXPECT_TRUE(absl::IsPermissionDenied(recorder.trace().status()));
  EXPECT_FALSE(recorder.trace().TakeFailure().ok());
  EXPECT_TRUE(recorder.trace().TakeFailure().ok());
}

TEST(RecorderTest, EventsAfterCloseAreCountedAsLost) {
  RecordedRun run;
  run.Allocate(DeviceAddress{0x200}, 1);
  run.recorder().Close();
  run.Allocate(DeviceAddress{0x400}, 1);
  EXPECT_EQ(run.recorder().trace().lost_events(), 1U);
  EXPECT_EQ(run.Lines().size(), 1U);
  EXPECT_TRUE(run.Reader().completeness().closed);
}

TEST(RecorderTest, ForkedChildRecordsNothingEvenIfTheLockWasHeld) {
  RecordedRun run;
  run.Allocate(DeviceAddress{0x200}, 1);
  std::atomic<bool> done = false;
  std::thread busy([&] {
    for (DeviceAddress address{0x400}; !done; address += 0x200) run.Allocate(address, 1);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      run.recorder().trace().AbandonInForkedChild();
      run.Allocate(DeviceAddress{0x200}, 1);
      run.recorder().scopes().PushTag("child");
      run.recorder().stacks().Intern(FramesOf({1}));
      run.recorder().Close();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  done = true;
  busy.join();
  EXPECT_TRUE(run.Reader().completeness().whole());
}

TEST(RecorderTest, ConcurrentThreadsKeepOrderAndOwners) {
  RecordedRun run;
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  constexpr uint64_t kBlocks = 5000;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&run, t] {
      const DeviceAddress base{static_cast<uint64_t>(t) << 32};
      run.recorder().scopes().PushTag("thread" + std::to_string(t));
      for (uint64_t i = 0; i < kBlocks; ++i) {
        run.Allocate(base + 512 * i, 1, run.recorder().stacks().Intern(FramesOf({i % 50 + 1, 1})));
        run.Free(base + 512 * i, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const trace::TraceReader reader = run.Reader();
  uint64_t sequence = 0;
  uint64_t allocations = 0;
  reader.ForEach([&](const trace::Event& event) {
    ASSERT_EQ(event.sequence, ++sequence);
    const auto* block = std::get_if<trace::Allocate>(&event.payload);
    if (block == nullptr) return;
    ++allocations;
    ASSERT_EQ(reader.String(block->owner), "thread" + std::to_string(block->address >> 32));
  });
  EXPECT_EQ(allocations, kThreads * kBlocks);
}

}  // namespace
}  // namespace memtrace::recorder
