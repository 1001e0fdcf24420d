// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/program_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/profiler/recorder/logged_trace.h"

namespace memtrace::recorder {
namespace {

using ::testing::ElementsAre;
using trace::Phase;

// A framework that can tell the calling thread that it runs a backward.
class FakeFramework final : public OperationSource {
 public:
  Operation Running() const override { return running; }
  Operation Next() const override { return {.thread = 1, .sequence = 0}; }
  bool IsRecording() const override { return false; }

  Operation running;
};

class ProgramRecorderTest : public testing::Test {
 protected:
  ProgramRecorderTest() { scopes_.SetOperations(&framework_); }

  // Returns all events of one kind.
  template <typename E>
  std::vector<E> All() const {
    std::vector<E> all;
    trace_.ForEach([&](const trace::Event& event) {
      if (const auto* payload = std::get_if<E>(&event.payload)) all.push_back(*payload);
    });
    return all;
  }
  // Returns the owner of an allocation in a backward without a forward: that of the pass's
  // requester.
  std::string OwnerOfPass() {
    framework_.running = {.thread = 1, .sequence = Operation::kNoNumber};
    const AllocationContext context = contexts_.Unpack(scopes_.CurrentContext(/*stack=*/0));
    framework_.running = {};
    return std::string(log_.writer().definitions().Text(context.owner));
  }

  LoggedTrace trace_;
  EventLog& log_ = trace_.log();
  ContextTable contexts_;
  FakeFramework framework_;
  TagScopes scopes_{log_, contexts_};
  ProgramRecorder program_{log_, contexts_, scopes_};
};

TEST_F(ProgramRecorderTest, PhaseIsWrittenOnlyIfItChanges) {
  EXPECT_EQ(program_.SetPhase(Phase::kForward), Phase::kOther);
  EXPECT_EQ(program_.SetPhase(Phase::kForward), Phase::kForward);
  EXPECT_EQ(program_.SetPhase(Phase::kBackward), Phase::kForward);
  EXPECT_EQ(program_.SetPhase(Phase::kForward), Phase::kBackward);
  std::vector<uint64_t> micro_batches;
  for (const auto& change : All<trace::PhaseChange>()) micro_batches.push_back(change.micro_batch);
  EXPECT_THAT(micro_batches, ElementsAre(1, 1, 2));
}

TEST_F(ProgramRecorderTest, StepsCountFromOneAndBeginTheirFirstMicroBatch) {
  program_.SetPhase(Phase::kForward);
  program_.SetPhase(Phase::kBackward);
  EXPECT_EQ(program_.BeginStep(), 1U);
  EXPECT_EQ(program_.BeginStep(), 2U);
  program_.SetPhase(Phase::kForward);
  EXPECT_EQ(All<trace::PhaseChange>().back().micro_batch, 1U);
}

TEST_F(ProgramRecorderTest, BackwardPassHasTheOwnerThatStartedIt) {
  scopes_.PushTag("policy");
  program_.SetPhase(Phase::kBackward);
  scopes_.PopTag();
  EXPECT_EQ(OwnerOfPass(), "policy");
}

// A checkpointed layer is run forward again in the middle of the backward, which then continues.
TEST_F(ProgramRecorderTest, BackwardAfterARecomputationIsTheSamePass) {
  scopes_.PushTag("policy");
  program_.SetPhase(Phase::kBackward);
  scopes_.PopTag();
  scopes_.PushTag("engine");
  program_.SetPhase(Phase::kRecompute);
  program_.SetPhase(Phase::kBackward);
  program_.SetPhase(Phase::kBackward);
  scopes_.PopTag();
  EXPECT_EQ(OwnerOfPass(), "policy");
}

TEST_F(ProgramRecorderTest, FactIsWrittenOnlyIfItsValueChanges) {
  for (const char* value : {"AdamW", "AdamW", "SGD", "AdamW"}) {
    program_.Annotate("optimizer.class", value);
  }
  program_.Annotate("optimizer.fused", "AdamW");
  EXPECT_EQ(All<trace::Annotate>().size(), 4U);
}

TEST_F(ProgramRecorderTest, OutsideMemoryHasOwnerAndModuleOfItsThread) {
  scopes_.PushTag("nccl");
  scopes_.PushModule("model");
  program_.OutsideAllocated({.address = 0x1000, .bytes = 500}, scopes_.CurrentContext(/*stack=*/0));
  program_.OutsideFreed({.address = 0x1000});
  const auto outside = All<trace::OutsideAllocate>();
  ASSERT_EQ(outside.size(), 1U);
  EXPECT_EQ(log_.writer().definitions().Text(outside[0].owner), "nccl");
  EXPECT_EQ(log_.writer().definitions().Text(outside[0].module), "model");
  EXPECT_EQ(All<trace::OutsideFree>().size(), 1U);
  EXPECT_TRUE(log_.run().outside().empty());
}

}  // namespace
}  // namespace memtrace::recorder
