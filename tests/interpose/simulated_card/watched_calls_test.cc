// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/test_bed/watched_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WatchedCallsTest : public ::testing::Test {
 protected:
  void Plan(const std::string& text) {
    std::vector<PlannedFailure> plan;
    std::string error;
    ASSERT_TRUE(ParsePlannedFailures(text, &plan, &error)) << error;
    calls_.Plan(plan);
  }
  int Call(const char* function) {
    WatchedCalls::Scope scope(calls_, function);
    return scope.Returns(scope.failure());
  }
  std::vector<int> CallTimes(int times, const char* function) {
    std::vector<int> results;
    results.reserve(static_cast<std::size_t>(times));
    for (int i = 0; i < times; ++i) results.push_back(Call(function));
    return results;
  }
  std::vector<std::string> Log() const {
    std::vector<std::string> log;
    calls_.VisitLog([&](const std::string& entry) { log.push_back(entry); });
    return log;
  }

  std::uint64_t taken_ = 0;
  Listening listening_;
  WatchedCalls calls_{[this](std::uint64_t bytes) { taken_ += bytes; }, listening_};
};

TEST_F(WatchedCallsTest, NothingIsWatchedByDefault) {
  EXPECT_FALSE(calls_.AreWatched());
  calls_.Plan({});
  EXPECT_FALSE(calls_.AreWatched());
}

TEST_F(WatchedCallsTest, NthCallFailsOnce) {
  Plan("cuMemCreate@2=CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_THAT(CallTimes(3, "cuMemCreate"), ElementsAre(0, 2, 0));
}

TEST_F(WatchedCallsTest, NthCallAndAllLaterOnesFail) {
  Plan("cudaMalloc@2+=cudaErrorMemoryAllocation;cuMemMap@1=700");
  EXPECT_THAT(CallTimes(4, "cudaMalloc"), ElementsAre(0, 2, 2, 2));
  EXPECT_THAT(CallTimes(2, "cuMemMap"), ElementsAre(700, 0));
}

TEST_F(WatchedCallsTest, CallsOfSeveralFunctionsAreCountedTogether) {
  Plan("cuMemCreate|cuMemMap@3+=999");
  EXPECT_EQ(Call("cuMemMap"), 0);
  EXPECT_EQ(Call("cuMemUnmap"), 0);
  EXPECT_THAT(CallTimes(3, "cuMemCreate"), ElementsAre(0, 999, 999));
  EXPECT_EQ(Call("cuMemMap"), 999);
}

TEST_F(WatchedCallsTest, NestedCallsDoNotCountForSeveralFunctions) {
  Plan("cuEventQuery|cuEventRecord@1=999;cuEventQuery@1=1");
  WatchedCalls::Scope runtime(calls_, "cudaEventQuery");
  EXPECT_EQ(Call("cuEventQuery"), 1);
  EXPECT_EQ(Call("cuEventRecord"), 0);
}

TEST_F(WatchedCallsTest, VersionsOfAFunctionCountTogether) {
  Plan("cuMemAlloc@2=2");
  EXPECT_THAT(CallTimes(1, "cuMemAlloc_v2"), ElementsAre(0));
  EXPECT_THAT(CallTimes(1, "cuMemAlloc"), ElementsAre(2));
}

TEST_F(WatchedCallsTest, NewPlanRestartsCounting) {
  Plan("cuMemMap@2=1");
  EXPECT_EQ(Call("cuMemMap"), 0);
  Plan("cuMemMap@2=1");
  EXPECT_THAT(CallTimes(2, "cuMemMap"), ElementsAre(0, 1));
}

TEST_F(WatchedCallsTest, PlannedMemoryOfOthersIsTakenBeforeTheCall) {
  Plan("cuMemMap@2=other:1.5GiB");
  EXPECT_EQ(Call("cuMemMap"), 0);
  EXPECT_EQ(taken_, 0u);
  EXPECT_EQ(Call("cuMemMap"), 0);
  EXPECT_EQ(taken_, 3ull << 29);
}

TEST_F(WatchedCallsTest, LogHasOnlyTheCallsOfTheProgram) {
  EXPECT_EQ(Call("cuInit"), 0);
  calls_.StartLog();
  {
    WatchedCalls::Scope scope(calls_, "cudaMalloc");
    WatchedCalls::NoteBytes(512);
    EXPECT_EQ(Call("cuMemAlloc_v2"), 0);
    scope.Returns(2);
  }
  EXPECT_EQ(Call("cuMemUnmap"), 0);
  calls_.StopLog();
  EXPECT_EQ(Call("cuMemUnmap"), 0);
  EXPECT_THAT(Log(), ElementsAre("cudaMalloc(512) = 2", "cuMemUnmap = 0"));
  calls_.StartLog();
  EXPECT_THAT(Log(), ElementsAre());
}

TEST(PlannedFailuresTest, InvalidPlansAreRejectedByName) {
  const auto mistake = [](const char* text) {
    std::vector<PlannedFailure> plan = {{.function = "kept", .nth = 1}};
    std::string error;
    EXPECT_FALSE(ParsePlannedFailures(text, &plan, &error)) << text;
    EXPECT_EQ(plan.front().function, "kept");
    return error;
  };
  EXPECT_THAT(mistake("cudaMalloc"), HasSubstr("write FUNCTION@N=ERROR"));
  EXPECT_THAT(mistake("@1=2"), HasSubstr("write FUNCTION@N=ERROR"));
  EXPECT_THAT(mistake("cudaMalloc=2@1"), HasSubstr("write FUNCTION@N=ERROR"));
  EXPECT_THAT(mistake("cudaMalloc@0=2"), HasSubstr("count from 1"));
  EXPECT_THAT(mistake("cudaMalloc@x=2"), HasSubstr("'x' is not the number of a call"));
  EXPECT_THAT(mistake("cudaMalloc@1=0"), HasSubstr("'0' is not a CUDA error"));
  EXPECT_THAT(mistake("cudaMalloc@1=cudaErrorWhatever"), HasSubstr("is not a CUDA error"));
  EXPECT_THAT(mistake("cudaMalloc@1=other:4GB"), HasSubstr("write 4GiB"));
}

}  // namespace
}  // namespace memtrace::card
