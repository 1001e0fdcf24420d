// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/request_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/analysis/named_program.h"

namespace memtrace::analysis {
namespace {

// Returns "3-5" for the fourth block, free after five requests; "3-" lives for ever.
std::string Lives(const StreamRequests& requests) {
  std::string text;
  for (size_t i = 0; i < requests.blocks.size(); ++i) {
    const size_t death = requests.blocks[i].death;
    text += (i > 0 ? " " : "") + std::to_string(requests.blocks[i].size >> 20) + "M-" +
            (death == RequestedBlock::kNever ? "" : std::to_string(death));
  }
  return text;
}

TEST(RequestLogTest, LifetimesAreCountedInRequestsOfTheStream) {
  RequestLog log;
  const auto first = log.Allocate(0, 7, 2_MiB);
  const auto second = log.Allocate(0, 7, 3_MiB);
  log.Free(first.value());
  log.Allocate(0, 7, 4_MiB);
  log.Free(second.value());
  ASSERT_EQ(log.streams().size(), 1u);
  EXPECT_EQ(Lives(log.streams()[0]), "2M-2 3M-3 4M-");
  EXPECT_EQ(log.requested(), 9_MiB);
}

TEST(RequestLogTest, SmallRequestsAreOnlySummed) {
  RequestLog log;
  EXPECT_FALSE(log.Allocate(0, 7, 1_MiB).has_value());
  EXPECT_TRUE(log.streams().empty());
  EXPECT_EQ(log.requested(), 1_MiB);
}

TEST(RequestLogTest, StreamsAreInTheOrderOfTheirFirstLargeRequest) {
  RequestLog log;
  log.Allocate(0, 9, 512);
  log.Allocate(0, 8, 2_MiB);
  const auto of_other_card = log.Allocate(1, 9, 3_MiB);
  log.Allocate(0, 9, 4_MiB);
  ASSERT_EQ(log.streams().size(), 3u);
  EXPECT_EQ(log.streams()[0].handle, 8u);
  EXPECT_EQ(log.streams()[1].device, 1);
  EXPECT_EQ(log.streams()[2].handle, 9u);
  log.Free(of_other_card.value());
  EXPECT_EQ(Lives(log.streams()[0]), "2M-");
  EXPECT_EQ(Lives(log.streams()[1]), "3M-1");
}

TEST(RequestLogTest, FailureAtTheEndIsTheLastRequest) {
  RequestLog log;
  const auto first = log.Allocate(0, 7, 2_MiB);
  log.Fail(0, 7, 9_MiB);
  log.Free(first.value());
  EXPECT_TRUE(log.EndsInFailure(0));
  EXPECT_FALSE(log.EndsInFailure(1));
  EXPECT_EQ(Lives(log.streams()[0]), "2M-2 9M-");
}

TEST(RequestLogTest, RecoveredFailureIsIgnored) {
  RequestLog log;
  log.Allocate(0, 7, 2_MiB);
  log.Fail(0, 7, 9_MiB);
  log.Allocate(0, 7, 3_MiB);
  EXPECT_FALSE(log.EndsInFailure(0));
  EXPECT_EQ(Lives(log.streams()[0]), "2M- 3M-");
}

TEST(RequestLogTest, ReservedIsThePeakOfMappedBytes) {
  RequestLog log;
  log.Map(0, 10);
  log.Map(0, 20);
  log.Map(0, -15);
  log.Map(0, 5);
  EXPECT_EQ(log.reserved().at(0), 30u);
}

// Otherwise it would keep its place in the plan for ever.
TEST(RequestLogTest, BlockWithALostFreeDiesWhenItsAddressIsReused) {
  NamedProgram program;
  program.Allocate(100, 2_MiB).Allocate(200, 3_MiB).Allocate(100, 4_MiB);
  program.Allocate({.address = 200, .requested = 8, .pool = 1});
  const RequestLog log = RequestLog::Of(program, /*is_ours=*/true);
  ASSERT_EQ(log.streams().size(), 1u);
  EXPECT_EQ(Lives(log.streams()[0]), "2M-2 3M-3 4M-");
}

}  // namespace
}  // namespace memtrace::analysis
