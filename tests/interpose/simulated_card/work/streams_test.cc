// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/streams.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/interpose/simulated_card/work/stream_parts.h"

namespace memtrace::card {
namespace {

class StreamsTest : public ::testing::Test {
 protected:
  CaptureStatus StatusOf(const void* stream) {
    CaptureStatus status = CaptureStatus::kNone;
    EXPECT_EQ(parts_.captures.StateOf(stream, 0, &status, &capture_), Result::kSuccess);
    return status;
  }

  StreamParts parts_{2};
  Stream* stream_ = parts_.table.Create(0, 0, 0);
  Event* event_ = parts_.events.Create(0);
  CaptureView capture_;
};

TEST_F(StreamsTest, EagerWorkIsDoneOnceSubmitted) {
  EXPECT_EQ(parts_.streams.Submit(stream_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Submit(nullptr, 1), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(event_, stream_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Query(stream_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.events.Query(event_), Result::kSuccess);
  EXPECT_EQ(parts_.progress.Waits().early, 2u) << "a lazy card would have said otherwise";
}

TEST_F(StreamsTest, EagerQueriesAfterAWaitAreNotEarly) {
  ASSERT_EQ(parts_.streams.Submit(stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(event_, stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.streams.Synchronize(stream_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Query(stream_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.events.Query(event_), Result::kSuccess);
  EXPECT_EQ(parts_.progress.Waits().early, 0u);
  EXPECT_EQ(parts_.progress.Waits().waits, 1u);
}

TEST_F(StreamsTest, EagerCallsAreMadeAtOnceUnlessCaptured) {
  int calls = 0;
  ASSERT_EQ(parts_.streams.SubmitCall(stream_, 0, [&] { ++calls; }), Result::kSuccess);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kSuccess);
  ASSERT_EQ(parts_.streams.SubmitCall(stream_, 0, [&] { ++calls; }), Result::kSuccess);
  EXPECT_EQ(calls, 1);
}

TEST_F(StreamsTest, PrioritiesAreClamped) {
  Stream described;
  ASSERT_EQ(parts_.table.Describe(parts_.table.Create(0, 1, -99), 0, &described), Result::kSuccess);
  EXPECT_EQ(described.priority, kHighestPriority);
  EXPECT_EQ(described.flags, 1u);
}

TEST_F(StreamsTest, DestroyedHandlesAreRejected) {
  ASSERT_EQ(parts_.streams.Destroy(stream_), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Destroy(stream_), Result::kInvalidHandle);
  EXPECT_EQ(parts_.streams.Submit(stream_, 0), Result::kInvalidHandle);
  EXPECT_EQ(parts_.streams.Destroy(nullptr), Result::kInvalidHandle);
  ASSERT_EQ(parts_.events.Destroy(event_), Result::kSuccess);
  EXPECT_EQ(parts_.events.Query(event_), Result::kInvalidHandle);
  EXPECT_EQ(parts_.events.Record(event_, nullptr, 0), Result::kInvalidHandle);
}

TEST_F(StreamsTest, ElapsedTimeIsAtLeastAMicrosecond) {
  Event* end = parts_.events.Create(0);
  ASSERT_EQ(parts_.events.Record(event_, stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(end, stream_, 0), Result::kSuccess);
  float milliseconds = 0;
  ASSERT_EQ(parts_.events.ElapsedMilliseconds(event_, end, &milliseconds), Result::kSuccess);
  EXPECT_GE(milliseconds, 1e-3f);
  EXPECT_LT(milliseconds, 10e3f);
}

TEST_F(StreamsTest, TimeIsCountedInWorkAndFollowsWaits) {
  Stream* side = parts_.table.Create(0, kNonBlockingStream, 0);
  Event* end = parts_.events.Create(0);
  ASSERT_EQ(parts_.events.Record(event_, side, 0), Result::kSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(parts_.streams.Submit(stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(end, stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Wait(side, 0, end), Result::kSuccess);
  ASSERT_EQ(parts_.streams.Submit(side, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(end, side, 0), Result::kSuccess);
  float milliseconds = 0;
  ASSERT_EQ(parts_.events.ElapsedMilliseconds(event_, end, &milliseconds), Result::kSuccess);
  EXPECT_FLOAT_EQ(milliseconds, 0.04f);
}

TEST_F(StreamsTest, ElapsedTimeNeedsTwoTimedRecordedEvents) {
  float milliseconds = 0;
  EXPECT_EQ(parts_.events.ElapsedMilliseconds(event_, event_, &milliseconds),
            Result::kInvalidHandle);
  Event* untimed = parts_.events.Create(kEventDisableTiming);
  ASSERT_EQ(parts_.events.Record(event_, stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(untimed, stream_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.events.ElapsedMilliseconds(event_, untimed, &milliseconds),
            Result::kInvalidHandle);
}

TEST_F(StreamsTest, CaptureCollectsNodesInsteadOfRunningThem) {
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kSuccess);
  EXPECT_EQ(StatusOf(stream_), CaptureStatus::kActive);
  EXPECT_NE(capture_.id, 0u);
  ASSERT_EQ(parts_.streams.Submit(stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.streams.Submit(stream_, 0), Result::kSuccess);
  Graph* graph = nullptr;
  ASSERT_EQ(parts_.captures.End(stream_, 0, &graph), Result::kSuccess);
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(StatusOf(stream_), CaptureStatus::kNone);
}

TEST_F(StreamsTest, WaitingForACapturedEventJoinsTheCapture) {
  Stream* side = parts_.table.Create(0, 0, 0);
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(event_, stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Wait(side, 0, event_), Result::kSuccess);
  EXPECT_EQ(StatusOf(side), CaptureStatus::kActive);
  ASSERT_EQ(parts_.streams.Submit(side, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(event_, side, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Wait(stream_, 0, event_), Result::kSuccess);
  Graph* graph = nullptr;
  ASSERT_EQ(parts_.captures.End(stream_, 0, &graph), Result::kSuccess);
  EXPECT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(StatusOf(side), CaptureStatus::kNone);
}

TEST_F(StreamsTest, SynchronizingACapturingStreamInvalidatesTheCapture) {
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Synchronize(stream_, 0), Result::kCaptureUnsupported);
  EXPECT_EQ(StatusOf(stream_), CaptureStatus::kInvalidated);
  EXPECT_EQ(parts_.streams.Submit(stream_, 0), Result::kCaptureInvalidated);
  Graph* graph = nullptr;
  EXPECT_EQ(parts_.captures.End(stream_, 0, &graph), Result::kCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(StreamsTest, CapturesBeginAndEndOnlyWhereAllowed) {
  Graph* graph = nullptr;
  EXPECT_EQ(parts_.captures.Begin(nullptr, 0, CaptureMode::kGlobal), Result::kCaptureUnsupported);
  EXPECT_EQ(parts_.captures.End(stream_, 0, &graph), Result::kIllegalState);
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kSuccess);
  EXPECT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kIllegalState);
}

TEST_F(StreamsTest, DestroyingTheCapturingStreamEndsTheCapture) {
  Stream* side = parts_.table.Create(0, 0, 0);
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kSuccess);
  ASSERT_EQ(parts_.events.Record(event_, stream_, 0), Result::kSuccess);
  ASSERT_EQ(parts_.events.Wait(side, 0, event_), Result::kSuccess);
  ASSERT_EQ(parts_.streams.Destroy(stream_), Result::kSuccess);
  EXPECT_EQ(StatusOf(side), CaptureStatus::kNone);
  EXPECT_EQ(parts_.captures.CheckUnsafeCall(), Result::kSuccess);
  EXPECT_EQ(parts_.events.Query(event_), Result::kSuccess);
}

TEST_F(StreamsTest, UnsafeCallsDependOnTheCaptureMode) {
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kThreadLocal), Result::kSuccess);
  std::thread([&] { EXPECT_EQ(parts_.captures.CheckUnsafeCall(), Result::kSuccess); }).join();
  const CaptureMode before = Captures::ExchangeMode(CaptureMode::kRelaxed);
  EXPECT_EQ(parts_.captures.CheckUnsafeCall(), Result::kSuccess);
  Captures::ExchangeMode(before);
  EXPECT_EQ(parts_.captures.CheckUnsafeCall(), Result::kCaptureUnsupported);
  EXPECT_EQ(StatusOf(stream_), CaptureStatus::kInvalidated);
}

TEST_F(StreamsTest, GlobalCaptureForbidsUnsafeCallsInOtherThreads) {
  ASSERT_EQ(parts_.captures.Begin(stream_, 0, CaptureMode::kGlobal), Result::kSuccess);
  std::thread([&] {
    EXPECT_EQ(parts_.captures.CheckUnsafeCall(), Result::kCaptureUnsupported);
  }).join();
}

}  // namespace
}  // namespace memtrace::card
