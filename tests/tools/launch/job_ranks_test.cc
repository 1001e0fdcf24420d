// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/job_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace memtrace::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kEightCards = {"8xh100-80gb"};

std::string ErrorOf(const std::string& world, const std::string& ranks,
                    const std::vector<std::string>& cards = kEightCards) {
  const auto job = ParseJobRanks(world, ranks, cards);
  EXPECT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(job.status().message());
}

TEST(JobRanksTest, RanksAreSpreadOverMachinesOfTheCards) {
  const auto job = ParseJobRanks("512", "448,0,9", kEightCards);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(job->real, ElementsAre(0, 9, 448));
  EXPECT_EQ(job->world, 512);
  EXPECT_EQ(job->Machines(), 64);
  EXPECT_EQ(job->MachineOf(9), 1);
  EXPECT_EQ(job->CardOf(9), 1);
}

TEST(JobRanksTest, RankZeroIsRealByDefault) {
  EXPECT_THAT(ParseJobRanks("512", "", kEightCards)->real, ElementsAre(0));
}

TEST(JobRanksTest, RanksMayHaveToBeFound) {
  const auto job = ParseJobRanks("512", "auto", kEightCards);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE(job->is_auto);
  EXPECT_THAT(job->real, ElementsAre(0));
  EXPECT_FALSE(job->HasEachKind());
  EXPECT_FALSE(ParseJobRanks("1", "auto", kEightCards)->is_auto);
}

TEST(JobRanksTest, EachKindRunsIfAllRanksDo) {
  EXPECT_TRUE(ParseJobRanks("4", "0-3", kEightCards)->HasEachKind());
  EXPECT_FALSE(ParseJobRanks("4", "0-2", kEightCards)->HasEachKind());
}

TEST(JobRanksTest, EachKindRunsIfTheRealRanksStandForAll) {
  JobRanks job = *ParseJobRanks("6", "0-1", kEightCards);
  job.alike = {3, 3};
  EXPECT_TRUE(job.HasEachKind());
  job.alike = {2, 2};
  EXPECT_FALSE(job.HasEachKind());
}

TEST(JobRanksTest, RangesAndMachinesAreRead) {
  const auto job = ParseJobRanks("64x8", "0-2,511", kEightCards);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->world, 512);
  EXPECT_THAT(job->real, ElementsAre(0, 1, 2, 511));
}

TEST(JobRanksTest, LastMachineMayHaveFewerRanks) {
  const auto job = ParseJobRanks("10", "9", kEightCards);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->RanksOn(0), 8);
  EXPECT_EQ(job->RanksOn(1), 2);
}

TEST(JobRanksTest, CardsOfSeveralSpecificationsCount) {
  EXPECT_EQ(ParseJobRanks("4", "", {"24GiB", "80GiB"})->cards, 2);
}

TEST(JobRanksTest, ImpossibleJobsAreRejected) {
  EXPECT_EQ(ErrorOf("", "0,4"), "--ranks needs --world, the number of ranks of the job");
  EXPECT_EQ(ErrorOf("512", "", {}), "--world needs the cards of one machine; add --card");
  EXPECT_EQ(ErrorOf("512", "0,512"),
            "--ranks: rank 512 does not exist; --world 512 has ranks 0 to 511");
  EXPECT_THAT(ErrorOf("64x4", ""), HasSubstr("has 4 ranks on a machine, but --card has 8"));
  for (const char* world : {"0", "-1", "8x", "x8", "1e3", "2x2x2", "99999999999", "9999999x8"})
    EXPECT_THAT(ErrorOf(world, ""), HasSubstr("is not a number of ranks from 1 to")) << world;
  for (const char* ranks : {"a", "1,", "3-1", "-1", "1-2-3", "0 1"})
    EXPECT_THAT(ErrorOf("512", ranks), HasSubstr("is not a list of ranks")) << ranks;
}

}  // namespace
}  // namespace memtrace::launch
