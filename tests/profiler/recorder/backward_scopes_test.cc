// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "profiler/recorder/recorder.h"
#include "tests/profiler/recorder/recorder_fixture.h"

namespace memtrace::recorder {
namespace {

using testing::EndsWith;
using trace::Phase;

// A framework in which each thread sets its own operations.
class FakeFramework final : public OperationSource {
 public:
  Operation Running() const override { return running; }
  Operation Next() const override { return next; }
  bool IsRecording() const override { return is_recording; }

  static inline thread_local Operation running;
  static inline thread_local Operation next{.thread = 1, .sequence = 0};
  static inline thread_local bool is_recording = true;
};

class BackwardScopesTest : public testing::Test {
 protected:
  BackwardScopesTest() {
    recorder.scopes().SetOperations(&framework);
    FakeFramework::running = {};
    FakeFramework::next = {.thread = 1, .sequence = 0};
  }

  // Runs operation `sequence` of thread 1 forward, in `module` of `tag`.
  void Forward(uint64_t sequence, const char* tag, const char* module) {
    FakeFramework::next.sequence = sequence;
    recorder.scopes().PushTag(tag);
    recorder.scopes().PushModule(module);
    ++FakeFramework::next.sequence;
    recorder.scopes().PopModule();
    recorder.scopes().PopTag();
  }

  // Returns the scope that is recorded for an allocation by a thread of the engine.
  std::string During(const Operation& operation) {
    FakeFramework::running = operation;
    run.Allocate(DeviceAddress{address += 512}, 1);
    FakeFramework::running = {};
    std::string line = run.Lines().back();
    const size_t end = line.find("allocated=512");
    return line.substr(end + std::string_view("allocated=512").size());
  }

  FakeFramework framework;
  RecordedRun run;
  Recorder& recorder = run.recorder();
  uint64_t address = 0;
};

TEST_F(BackwardScopesTest, BackwardMemoryHasOwnerAndModuleOfItsForward) {
  Forward(5, "policy", "h.0");
  Forward(6, "critic", "h.1");
  std::thread([&] {
    FakeFramework::next = {.thread = 2, .sequence = 0};
    FakeFramework::is_recording = false;
    EXPECT_EQ(During({1, 6}), " owner=critic module=h.1");
    EXPECT_EQ(During({1, 5}), " owner=policy module=h.0");
    EXPECT_EQ(During({1, 4}), "");
    EXPECT_EQ(During({}), "");
  }).join();
}

// Tests the example in tag_scopes.h.
TEST_F(BackwardScopesTest, ScopeOfAForwardHoldsForItsBackwardAndTheGradientAfterIt) {
  FakeFramework::next.sequence = 7;
  recorder.scopes().PushTag("policy");
  recorder.scopes().PushModule("h.0");
  ++FakeFramework::next.sequence;
  EXPECT_EQ(During({}), " owner=policy module=h.0");
  recorder.scopes().PopModule();
  recorder.scopes().PopTag();
  EXPECT_EQ(During({}), "");
  recorder.program().SetPhase(Phase::kBackward);
  EXPECT_EQ(During({1, 7}), " owner=policy module=h.0");
  EXPECT_EQ(During({1, Operation::kNoNumber}), " owner=policy module=h.0");
}

TEST_F(BackwardScopesTest, OperationWithoutAForwardHasTheScopeOfThePreviousOne) {
  Forward(5, "policy", "h.0");
  recorder.program().SetPhase(Phase::kBackward);
  EXPECT_EQ(During({1, Operation::kNoNumber}), "");
  EXPECT_EQ(During({1, 5}), " owner=policy module=h.0");
  EXPECT_EQ(During({1, Operation::kNoNumber}), " owner=policy module=h.0");
  recorder.program().SetPhase(Phase::kOther);
  recorder.program().SetPhase(Phase::kBackward);
  EXPECT_EQ(During({1, Operation::kNoNumber}), "");
}

TEST_F(BackwardScopesTest, OwnerOfTheBackwardCallIsUsedIfTheForwardHasNone) {
  FakeFramework::next.sequence = 1;
  recorder.scopes().PushTag("trainer");
  recorder.program().SetPhase(Phase::kBackward);
  recorder.scopes().PopTag();
  EXPECT_EQ(During({1, 0}), " owner=trainer");
}

TEST_F(BackwardScopesTest, RecomputationScopesNestInTheScopeOfTheirForward) {
  recorder.scopes().PushTag("policy");
  const ScopeId outside = recorder.scopes().CurrentScope();
  recorder.scopes().PopTag();
  Forward(7, "policy", "h.0");
  recorder.scopes().PushTag("not this");  // by the waiting thread, or earlier
  FakeFramework::running = {1, 7};
  recorder.scopes().EnterScope(outside);
  recorder.scopes().PushTag("block");
  recorder.scopes().PushModule("h.0.mlp");
  EXPECT_EQ(During({1, 7}), " owner=policy/block module=h.0.mlp");
  EXPECT_EQ(During({1, 6}), "");  // of a nested backward
  FakeFramework::running = {1, 7};
  recorder.scopes().PopModule();
  recorder.scopes().PopTag();
  recorder.scopes().LeaveScope();
  EXPECT_EQ(During({1, 7}), " owner=policy module=h.0");
  EXPECT_EQ(During({}), " owner=\"not this\"");
}

TEST_F(BackwardScopesTest, GraphMadeInABackwardHasTheScopeOfItsForward) {
  Forward(7, "policy", "h.0");
  std::thread([&] {
    FakeFramework::is_recording = true;
    FakeFramework::next = {.thread = 2, .sequence = 31};  // operation 30 is about to allocate
    EXPECT_EQ(During({1, 7}), " owner=policy module=h.0");
    EXPECT_EQ(During({2, 30}), " owner=policy module=h.0");
  }).join();
}

TEST_F(BackwardScopesTest, ThreadCanEnterTheScopeOfAnother) {
  recorder.scopes().PushTag("policy");
  recorder.scopes().PushModule("h.0");
  const ScopeId scope = recorder.scopes().CurrentScope();
  std::thread([&] {
    FakeFramework::next = {.thread = 2, .sequence = 0};
    recorder.scopes().EnterScope(scope);
    EXPECT_EQ(During({}), " owner=policy module=h.0");
    EXPECT_EQ(During({2, 3}), " owner=policy module=h.0");
    recorder.scopes().LeaveScope();
    EXPECT_EQ(During({}), "");
  }).join();
}

TEST_F(BackwardScopesTest, StatedRoleAppliesToAllocationsAndIsNotInherited) {
  FakeFramework::next.sequence = 3;
  recorder.scopes().PushRole(trace::Role::kComm);
  run.Allocate(DeviceAddress{0x10000}, 100);
  EXPECT_THAT(run.Lines().back(), EndsWith("relabel 0 0x10000 role=comm"));
  EXPECT_EQ(During({1, 3}), "");
  recorder.scopes().PopRole();
  EXPECT_EQ(During({}), "");
}

TEST_F(BackwardScopesTest, BlockWithoutOwnerGetsTheOwnerOfItsParameter) {
  recorder.scopes().PushTag("policy");
  run.Allocate(DeviceAddress{0x10000}, 100);
  recorder.scopes().PopTag();
  run.Allocate(DeviceAddress{0x20000}, 100);
  for (int step = 0; step < 2; ++step) {
    recorder.blocks().RelabelFor(DeviceIndex{0}, DeviceAddress{0x20000}, 100,
                                 trace::Role::kGradient, DeviceAddress{0x10000}, "w");
  }
  EXPECT_EQ(run.Lines().back(), "relabel 0 0x20000 role=gradient owner=policy path=w");
  EXPECT_EQ(run.Lines().size(), 5U);
}

TEST_F(BackwardScopesTest, ForwardAfterABackwardBeginsTheNextMicroBatch) {
  recorder.program().BeginStep();
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kForward, Phase::kEvaluate,
                            Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    recorder.program().SetPhase(phase);
  }
  recorder.program().BeginStep();
  recorder.program().SetPhase(Phase::kForward);
  EXPECT_THAT(
      run.Lines(),
      testing::ElementsAre("step 1", "phase forward micro_batch=1", "phase backward micro_batch=1",
                           "phase forward micro_batch=2", "phase evaluate",
                           "phase forward micro_batch=2", "phase backward micro_batch=2",
                           "phase optimizer", "step 2", "phase forward micro_batch=1"));
}

}  // namespace
}  // namespace memtrace::recorder
