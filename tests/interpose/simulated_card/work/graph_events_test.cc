// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Events and calls of the host inside graphs, where work is done when the host waits: a launch
// records them, and waits for them, in the stream that it was launched in (cuda.h,
// cuGraphAddEventRecordNode: "Each launch of the graph will record event to capture execution of
// the node's dependencies").
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GraphEventsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess) << "set MEMTRACE_CARD, as ctest does";
    ASSERT_EQ(memtrace_card_set_events(MEMTRACE_CARD_LAZY, 0), MEMTRACE_CARD_OK);
    for (cudaStream_t* stream : {&captured_, &launched_, &other_}) {
      ASSERT_EQ(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), cudaSuccess);
    }
    for (cudaEvent_t* event : {&first_, &last_}) ASSERT_EQ(cudaEventCreate(event), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&memory_, kBytes), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
  }

  cudaError_t Work(cudaStream_t stream) { return cudaMemsetAsync(memory_, 0, kBytes, stream); }

  static void Launch(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  void LaunchCaptured(const std::function<void()>& calls) {
    ASSERT_EQ(cudaStreamBeginCapture(captured_, cudaStreamCaptureModeRelaxed), cudaSuccess);
    calls();
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(captured_, &graph), cudaSuccess);
    Launch(graph, launched_);
  }

  static constexpr std::size_t kBytes = 1024;
  void* memory_ = nullptr;
  cudaStream_t captured_ = nullptr;
  cudaStream_t launched_ = nullptr;
  cudaStream_t other_ = nullptr;
  cudaEvent_t first_ = nullptr;
  cudaEvent_t last_ = nullptr;
};

TEST_F(GraphEventsTest, ExternalRecordIsDoneWhenTheLaunchIs) {
  LaunchCaptured([&] {
    EXPECT_EQ(Work(captured_), cudaSuccess);
    EXPECT_EQ(cudaEventRecordWithFlags(first_, captured_, cudaEventRecordExternal), cudaSuccess);
  });
  EXPECT_EQ(cudaEventQuery(first_), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(launched_), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(first_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(launched_), cudaSuccess) << "the event is the launch's last work";
}

TEST_F(GraphEventsTest, ExternalWaitDelaysLaterNodes) {
  ASSERT_EQ(Work(other_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(first_, other_), cudaSuccess);
  LaunchCaptured([&] {
    EXPECT_EQ(cudaStreamWaitEvent(captured_, first_, cudaEventWaitExternal), cudaSuccess);
    EXPECT_EQ(Work(captured_), cudaSuccess);
    EXPECT_EQ(cudaEventRecordWithFlags(last_, captured_, cudaEventRecordExternal), cudaSuccess);
  });
  EXPECT_EQ(cudaEventQuery(first_), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(last_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(first_), cudaSuccess) << "the graph waited for it";
}

TEST_F(GraphEventsTest, NodesAddedByHandBehaveAsCapturedOnes) {
  ASSERT_EQ(Work(other_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(first_, other_), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphNode_t wait = nullptr;
  cudaGraphNode_t record = nullptr;
  ASSERT_EQ(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, first_), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEventRecordNode(&record, graph, &wait, 1, last_), cudaSuccess);
  Launch(graph, launched_);
  EXPECT_EQ(cudaEventQuery(last_), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamSynchronize(launched_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(last_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(first_), cudaSuccess);
}

TEST_F(GraphEventsTest, HostFunctionsRunInStreamOrder) {
  std::vector<int> calls;
  struct Call {
    std::vector<int>* calls;
    int number;
  };
  const auto append = [](void* argument) {
    const auto* call = static_cast<const Call*>(argument);
    call->calls->push_back(call->number);
  };
  Call before{&calls, 1};
  Call captured{&calls, 2};
  Call by_hand{&calls, 3};
  ASSERT_EQ(cudaLaunchHostFunc(launched_, append, &before), cudaSuccess);
  LaunchCaptured([&] { EXPECT_EQ(cudaLaunchHostFunc(captured_, append, &captured), cudaSuccess); });
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  const cudaHostNodeParams function = {.fn = append, .userData = &by_hand};
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddHostNode(&node, graph, nullptr, 0, &function), cudaSuccess);
  Launch(graph, launched_);
  EXPECT_THAT(calls, IsEmpty());
  EXPECT_EQ(cudaStreamSynchronize(launched_), cudaSuccess);
  EXPECT_THAT(calls, ElementsAre(1, 2, 3));
}

TEST_F(GraphEventsTest, DestroyedEventFailsTheLaunch) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t record = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, last_), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(last_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, launched_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// torch's allocator walks the list and asks about other streams during the walk.
TEST_F(GraphEventsTest, DependencyListStaysValidUntilItsStreamContinues) {
  ASSERT_EQ(cudaStreamBeginCapture(captured_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(other_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  ASSERT_EQ(Work(captured_), cudaSuccess);
  ASSERT_EQ(Work(other_), cudaSuccess);
  struct Info {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
  };
  const auto ask = [](cudaStream_t stream) {
    Info info;
    EXPECT_EQ(cudaStreamGetCaptureInfo(stream, &info.status, nullptr, nullptr, &info.nodes, nullptr,
                                       &info.count),
              cudaSuccess);
    EXPECT_EQ(info.count, 1u);
    return info;
  };
  const Info ours = ask(captured_);
  const cudaGraphNode_t node = ours.nodes[0];
  const Info theirs = ask(other_);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamIsCapturing(launched_, &status), cudaSuccess);
  EXPECT_EQ(ours.nodes[0], node);
  EXPECT_NE(theirs.nodes[0], node);
  for (cudaStream_t stream : {captured_, other_}) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
}

}  // namespace
