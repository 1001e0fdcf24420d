// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/interpose/simulated_card/work/stream_parts.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CapturesTest : public ::testing::Test {
 protected:
  // Makes stream `to` wait for the work now in stream `from`.
  Result Order(Stream* from, Stream* to) {
    Event* event = parts_.events.Create(0);
    const Result recorded = parts_.events.Record(event, from, 0);
    return recorded == Result::kSuccess ? parts_.events.Wait(to, 0, event) : recorded;
  }

  CaptureStatus StatusOf(Stream* stream) {
    CaptureStatus status = CaptureStatus::kNone;
    EXPECT_EQ(parts_.captures.StateOf(stream, 0, &status, &view_), Result::kSuccess);
    return status;
  }

  GraphNode* NodeOf(Stream* stream) {
    EXPECT_EQ(parts_.streams.Submit(stream, 0), Result::kSuccess);
    EXPECT_EQ(StatusOf(stream), CaptureStatus::kActive);
    EXPECT_EQ(view_.frontier.size(), 1u);
    return view_.frontier.front();
  }

  StreamParts parts_{1};
  Stream* main_ = parts_.table.Create(0, kNonBlockingStream, 0);
  Stream* side_ = parts_.table.Create(0, kNonBlockingStream, 0);
  CaptureView view_;
  Graph* graph_ = nullptr;
};

TEST_F(CapturesTest, NodesDependOnStreamOrderAndWaits) {
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal), Result::kSuccess);
  GraphNode* first = NodeOf(main_);
  ASSERT_EQ(Order(main_, side_), Result::kSuccess);
  GraphNode* second = NodeOf(main_);
  GraphNode* beside = NodeOf(side_);
  ASSERT_EQ(Order(side_, main_), Result::kSuccess);
  GraphNode* last = NodeOf(main_);
  ASSERT_EQ(parts_.captures.End(main_, 0, &graph_), Result::kSuccess);
  EXPECT_THAT(first->dependencies, IsEmpty());
  EXPECT_THAT(second->dependencies, ElementsAre(first));
  EXPECT_THAT(beside->dependencies, ElementsAre(first));
  EXPECT_THAT(last->dependencies, ElementsAre(second, beside));
}

TEST_F(CapturesTest, UnjoinedForkIsAnError) {
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal), Result::kSuccess);
  ASSERT_EQ(Order(main_, side_), Result::kSuccess);
  ASSERT_EQ(parts_.streams.Submit(side_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.captures.End(main_, 0, &graph_), Result::kCaptureUnjoined);
  EXPECT_EQ(graph_, nullptr);
  EXPECT_EQ(StatusOf(side_), CaptureStatus::kNone);
}

TEST_F(CapturesTest, ForkWithoutWorkNeedsNoJoin) {
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal), Result::kSuccess);
  ASSERT_EQ(parts_.streams.Submit(main_, 0), Result::kSuccess);
  ASSERT_EQ(Order(main_, side_), Result::kSuccess);
  EXPECT_EQ(parts_.captures.End(main_, 0, &graph_), Result::kSuccess);
}

TEST_F(CapturesTest, CapturedWorkRunsOnlyAtLaunch) {
  int done = 0;
  const auto work = [&done](const Work&) {
    ++done;
    return Result::kSuccess;
  };
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal), Result::kSuccess);
  ASSERT_EQ(parts_.streams.Perform(main_, 0, NodeType::kHost, work), Result::kSuccess);
  ASSERT_EQ(parts_.captures.End(main_, 0, &graph_), Result::kSuccess);
  EXPECT_EQ(done, 0);
  GraphExec* exec = nullptr;
  GraphLaunch all;
  ASSERT_EQ(parts_.graph_execs.Instantiate(graph_, &exec), Result::kSuccess);
  ASSERT_EQ(parts_.graph_execs.LaunchOf(exec, &all), Result::kSuccess);
  for (int launch = 0; launch < 2; ++launch) {
    for (const HostWork& one : *all.work) EXPECT_EQ(one({}), Result::kSuccess);
  }
  EXPECT_EQ(done, 2);
}

TEST_F(CapturesTest, WaitingForUncapturedWorkInvalidatesTheCapture) {
  ASSERT_EQ(parts_.streams.Submit(side_, 0), Result::kSuccess);
  Event* event = parts_.events.Create(0);
  ASSERT_EQ(parts_.events.Record(event, side_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal), Result::kSuccess);
  EXPECT_EQ(parts_.events.Wait(main_, 0, event), Result::kCaptureIsolation);
  EXPECT_EQ(StatusOf(main_), CaptureStatus::kInvalidated);
}

TEST_F(CapturesTest, TwoCapturesDoNotMerge) {
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal), Result::kSuccess);
  ASSERT_EQ(parts_.captures.Begin(side_, 0, CaptureMode::kGlobal), Result::kSuccess);
  EXPECT_EQ(Order(side_, main_), Result::kCaptureMerge);
  EXPECT_EQ(StatusOf(main_), CaptureStatus::kInvalidated);
  EXPECT_EQ(StatusOf(side_), CaptureStatus::kInvalidated);
}

TEST_F(CapturesTest, DefaultStreamCannotWaitForACapturingBlockingStream) {
  Stream* blocking = parts_.table.Create(0, 0, 0);
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kRelaxed), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Submit(nullptr, 0), Result::kSuccess);
  ASSERT_EQ(parts_.captures.Begin(blocking, 0, CaptureMode::kRelaxed), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Submit(nullptr, 0), Result::kCaptureImplicit);
  EXPECT_EQ(StatusOf(blocking), CaptureStatus::kInvalidated);
  EXPECT_EQ(StatusOf(main_), CaptureStatus::kActive);
}

TEST_F(CapturesTest, OnlyARelaxedCaptureEndsInAnotherThread) {
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kThreadLocal), Result::kSuccess);
  ASSERT_EQ(parts_.captures.Begin(side_, 0, CaptureMode::kRelaxed), Result::kSuccess);
  std::thread([&] {
    EXPECT_EQ(parts_.captures.End(main_, 0, &graph_), Result::kCaptureWrongThread);
    EXPECT_EQ(parts_.captures.End(side_, 0, &graph_), Result::kSuccess);
  }).join();
}

TEST_F(CapturesTest, CaptureContinuesTheCallersGraph) {
  Graph* graph = parts_.graphs.Create();
  GraphNode* before = nullptr;
  ASSERT_EQ(parts_.graphs.Add(graph, NodeType::kEmpty, {}, nullptr, &before), Result::kSuccess);
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal, graph, {before}),
            Result::kSuccess);
  GraphNode* node = NodeOf(main_);
  ASSERT_EQ(parts_.captures.End(main_, 0, &graph_), Result::kSuccess);
  EXPECT_EQ(graph_, graph);
  EXPECT_THAT(node->dependencies, ElementsAre(before));
}

TEST_F(CapturesTest, FrontierCanBeChanged) {
  ASSERT_EQ(parts_.captures.Begin(main_, 0, CaptureMode::kGlobal), Result::kSuccess);
  GraphNode* first = NodeOf(main_);
  GraphNode* second = NodeOf(main_);
  ASSERT_EQ(parts_.captures.ChangeFrontier(main_, 0, {first}, true), Result::kSuccess);
  GraphNode* third = NodeOf(main_);
  EXPECT_THAT(third->dependencies, ElementsAre(first));
  ASSERT_EQ(parts_.captures.ChangeFrontier(main_, 0, {second}, false), Result::kSuccess);
  EXPECT_THAT(NodeOf(main_)->dependencies, ElementsAre(third, second));
}

}  // namespace
}  // namespace memtrace::card
