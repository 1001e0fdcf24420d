// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/other_processes.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

using Relation = OtherProcess::Relation;

TEST(OtherProcessesTest, EachProcessHasBytesAndRelation) {
  const auto found = ParseOtherProcesses("11 500 data_worker;12 400 rank 3;13 300 parent");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].pid, "11");
  EXPECT_EQ(found[0].bytes, 500U);
  EXPECT_EQ(found[0].relation, Relation::kDataWorker);
  EXPECT_EQ(found[1].relation, Relation::kRank);
  EXPECT_EQ(found[1].rank, "3");
  EXPECT_EQ(found[2].relation, Relation::kParent);
}

TEST(OtherProcessesTest, MalformedEntriesAreOmitted) {
  EXPECT_TRUE(ParseOtherProcesses("").empty());
  EXPECT_TRUE(ParseOtherProcesses("11;12 x worker;y 5 worker;;").empty());
  EXPECT_EQ(ParseOtherProcesses("11 5 unheard_of")[0].relation, Relation::kProcess);
}

TEST(OtherProcessesTest, LaunchHoldsAtMostWhatAllOthersHold) {
  const auto found = ParseOtherProcesses("11 500 worker;12 400 worker");
  EXPECT_EQ(BytesOfLaunch(found, 1000), 900U);
  EXPECT_EQ(BytesOfLaunch(found, 600), 600U);
}

TEST(OtherProcessesTest, WorkersFormOneGroupAndEachRankItsOwn) {
  const auto found = ParseOtherProcesses("11 500 rank 1;12 400 worker;13 300 worker;14 450 rank 2");
  const std::vector<OtherGroup> groups = GroupOthers(found);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].relation, Relation::kWorker);
  EXPECT_EQ(groups[0].bytes, 700U);
  EXPECT_EQ(groups[0].processes.size(), 2U);
  EXPECT_EQ(groups[1].rank, "1");
  EXPECT_EQ(groups[2].rank, "2");
}

}  // namespace
}  // namespace memtrace::analysis
