// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/request_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::analysis {
namespace {

// "3-5": the fourth block, free when five have been asked for; "3-" lives for ever.
std::string Lives(const StreamRequests& requests) {
  std::string text;
  for (size_t i = 0; i < requests.blocks.size(); ++i) {
    const size_t death = requests.blocks[i].death;
    text += (i > 0 ? " " : "") + std::to_string(requests.blocks[i].size >> 20) + "M-" +
            (death == RequestedBlock::kNever ? "" : std::to_string(death));
  }
  return text;
}

TEST(RequestLogTest, DeathsAreCountedInRequestsOfTheStream) {
  RequestLog log;
  log.Allocate(0, 7, 100, 2_MiB);
  log.Allocate(0, 7, 200, 3_MiB);
  log.Free(0, 100);
  log.Allocate(0, 7, 100, 4_MiB);
  log.Free(0, 200);
  ASSERT_EQ(log.streams().size(), 1u);
  EXPECT_EQ(Lives(log.streams()[0]), "2M-2 3M-3 4M-");
  EXPECT_EQ(log.requested(), 9_MiB);
}

TEST(RequestLogTest, SmallRequestsAreOnlySummedUp) {
  RequestLog log;
  log.Allocate(0, 7, 100, 1_MiB);
  log.Free(0, 100);
  EXPECT_TRUE(log.streams().empty());
  EXPECT_EQ(log.requested(), 1_MiB);
}

TEST(RequestLogTest, StreamsAreInTheOrderOfTheirFirstLargeRequest) {
  RequestLog log;
  log.Allocate(0, 9, 100, 512);
  log.Allocate(0, 8, 200, 2_MiB);
  log.Allocate(1, 9, 200, 3_MiB);
  log.Allocate(0, 9, 300, 4_MiB);
  ASSERT_EQ(log.streams().size(), 3u);
  EXPECT_EQ(log.streams()[0].handle, 8u);
  EXPECT_EQ(log.streams()[1].device, 1);
  EXPECT_EQ(log.streams()[2].handle, 9u);
  log.Free(1, 200);
  EXPECT_EQ(Lives(log.streams()[0]), "2M-");
  EXPECT_EQ(Lives(log.streams()[1]), "3M-1");
}

TEST(RequestLogTest, FailureAtTheEndIsALastRequest) {
  RequestLog log;
  log.Allocate(0, 7, 100, 2_MiB);
  log.Fail(0, 7, 9_MiB);
  log.Free(0, 100);
  EXPECT_TRUE(log.EndsInFailure(0));
  EXPECT_FALSE(log.EndsInFailure(1));
  EXPECT_EQ(Lives(log.streams()[0]), "2M-2 9M-");
}

TEST(RequestLogTest, FailureThatTheProgramGotOverIsNone) {
  RequestLog log;
  log.Allocate(0, 7, 100, 2_MiB);
  log.Fail(0, 7, 9_MiB);
  log.Allocate(0, 7, 200, 3_MiB);
  EXPECT_FALSE(log.EndsInFailure(0));
  EXPECT_EQ(Lives(log.streams()[0]), "2M- 3M-");
}

TEST(RequestLogTest, ReservedIsTheMostThatWasMapped) {
  RequestLog log;
  log.Map(0, 10);
  log.Map(0, 20);
  log.Map(0, -15);
  log.Map(0, 5);
  EXPECT_EQ(log.reserved().at(0), 30u);
}

}  // namespace
}  // namespace memtrace::analysis
