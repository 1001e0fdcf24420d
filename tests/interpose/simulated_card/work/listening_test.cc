// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/test_bed/listening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interpose/simulated_card/test_bed/watched_calls.h"
#include "tests/interpose/simulated_card/work/stream_parts.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> told;

std::string InCall(const char* what, std::uint32_t correlation) {
  return std::string(what) + " " + std::to_string(correlation);
}

constexpr memtrace_card_listener kListener = {
    .enters =
        [](const memtrace_card_call* call) {
          told.push_back(InCall(call->name, call->correlation));
        },
    .leaves =
        [](const memtrace_card_call* call) {
          told.push_back(InCall(call->name, call->correlation) + " = " +
                         std::to_string(call->result));
        },
    .happens =
        [](const memtrace_card_event* event) {
          told.push_back(InCall(event->name, event->correlation));
        }};

class ListeningTest : public ::testing::Test {
 protected:
  ListeningTest() { told.clear(); }

  void Call(const char* name) {
    WatchedCalls::Scope scope(calls_, name);
    scope.Returns(0);
  }
  void Launch(Stream* stream, const char* kernel) {
    ASSERT_EQ(parts_.streams.Launch(stream, 0, {.name = kernel, .shape = kMemtraceCardOneThread}),
              Result::kSuccess);
  }

  Listening listening_;
  WatchedCalls calls_{[](std::uint64_t) {}, listening_};
  StreamParts parts_{1, {}, &listening_};
};

TEST_F(ListeningTest, CallsAreWatchedOnlyWhileSomebodyListens) {
  EXPECT_FALSE(calls_.AreWatched());
  Launch(nullptr, "before");
  calls_.Listen(&kListener);
  EXPECT_TRUE(calls_.AreWatched());
  calls_.Listen(nullptr);
  Call("cuMemFree_v2");
  Launch(nullptr, "after");
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(ListeningTest, CallHasOneNumberAndItsFullName) {
  calls_.Listen(&kListener);
  Call("cuMemFree_v2");
  Call("cudaFree");
  EXPECT_THAT(told,
              ElementsAre("cuMemFree_v2 1", "cuMemFree_v2 1 = 0", "cudaFree 2", "cudaFree 2 = 0"));
}

TEST_F(ListeningTest, NestedCallsAreNotReported) {
  calls_.Listen(&kListener);
  WatchedCalls::Scope outer(calls_, "cudaMalloc");
  Call("cuMemAlloc_v2");
  outer.Returns(2);
  EXPECT_THAT(told, ElementsAre("cudaMalloc 1", "cudaMalloc 1 = 2"));
}

TEST_F(ListeningTest, CallInProgressWhenListeningBeginsIsNotReported) {
  WatchedCalls::Scope outer(calls_, "cudaMalloc");
  calls_.Listen(&kListener);
  outer.Returns(0);
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(ListeningTest, KernelIsReportedWithinItsCall) {
  calls_.Listen(&kListener);
  WatchedCalls::Scope call(calls_, "cudaLaunchKernel");
  Launch(nullptr, "gelu");
  call.Returns(0);
  EXPECT_THAT(told, ElementsAre("cudaLaunchKernel 1", "gelu 1", "cudaLaunchKernel 1 = 0"));
}

TEST_F(ListeningTest, CapturedKernelIsReportedAtEachGraphLaunch) {
  calls_.Listen(&kListener);
  Stream* stream = parts_.table.Create(0, kNonBlockingStream, 0);
  Graph* graph = nullptr;
  ASSERT_EQ(parts_.captures.Begin(stream, 0, CaptureMode::kGlobal), Result::kSuccess);
  Launch(stream, "captured");
  ASSERT_EQ(parts_.captures.End(stream, 0, &graph), Result::kSuccess);
  EXPECT_THAT(told, IsEmpty());
  GraphExec* exec = nullptr;
  GraphLaunch all;
  ASSERT_EQ(parts_.graph_execs.Instantiate(graph, &exec), Result::kSuccess);
  ASSERT_EQ(parts_.graph_execs.LaunchOf(exec, &all), Result::kSuccess);
  const auto replay = [&](const Work& at) { return DoWork(all.work, at); };
  for (int launch = 0; launch < 2; ++launch)
    ASSERT_EQ(parts_.streams.Perform(stream, 0, NodeType::kGraph, replay), Result::kSuccess);
  EXPECT_THAT(told, ElementsAre("captured 0", "captured 0"));
}

}  // namespace
}  // namespace memtrace::card
