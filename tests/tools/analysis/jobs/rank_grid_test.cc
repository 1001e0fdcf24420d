// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/rank_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/tools/analysis/jobs/job_fixture.h"

namespace memtrace::analysis {
namespace {

using testing::Each;
using testing::ElementsAre;

// A rank of a job of 16: stages of 8, in each 2 x 4 ranks; it stands for `alike` of them.
ProcessView RankOf16(uint64_t rank, uint64_t alike, uint64_t bytes) {
  ProcessView view = Rank(rank, 16);
  Join(view, "pp", 2, 8);
  Join(view, "dp", 2, 4);
  Join(view, "tp", 4, 1);
  Hold(view, trace::Role::kParameter, "net", bytes);
  view.run.ranks_alike = alike;
  return view;
}

std::vector<int32_t> KindsOfRanks(const RankGrid& grid, uint64_t from, uint64_t count) {
  return {grid.kinds.begin() + static_cast<std::ptrdiff_t>(from),
          grid.kinds.begin() + static_cast<std::ptrdiff_t>(from + count)};
}

TEST(RankGridTest, EachRankHasACell) {
  const auto grid = GridOf(JobOf({RankOf16(0, 8, 2_GiB), RankOf16(8, 8, 1_GiB)}));
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->rows.name, "pp");
  std::set<uint64_t> ranks;
  for (uint64_t row = 0; row < grid->rows.size; ++row)
    for (uint64_t column = 0; column < grid->column_count(); ++column)
      ranks.insert(*grid->RankAt(row, column));
  EXPECT_EQ(ranks.size(), 16U);
  EXPECT_EQ(grid->RankAt(1, 5), 13U);
}

TEST(RankGridTest, VirtualRanksHaveTheKindOfTheirStage) {
  const auto grid = GridOf(JobOf({RankOf16(0, 8, 2_GiB), RankOf16(8, 8, 1_GiB)}));
  ASSERT_TRUE(grid);
  EXPECT_THAT(KindsOfRanks(*grid, 0, 8), Each(0));
  EXPECT_THAT(KindsOfRanks(*grid, 8, 8), Each(1));
  EXPECT_EQ(grid->processes[8], 1);
  EXPECT_EQ(grid->processes[9], -1);
}

TEST(RankGridTest, LastShardStandsForItselfAndTheFirstForTheOthers) {
  const auto grid = GridOf(JobOf({RankOf16(0, 12, 2_GiB), RankOf16(3, 4, 1_GiB)}));
  ASSERT_TRUE(grid);
  EXPECT_THAT(KindsOfRanks(*grid, 0, 8), ElementsAre(0, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_EQ(grid->rows.name, "tp");  // the kinds differ in it
}

TEST(RankGridTest, RanksThatNoTraceCountsAreNotKnown) {
  for (const uint64_t alike : {uint64_t{0}, uint64_t{7}}) {
    const auto grid = GridOf(JobOf({RankOf16(0, alike, 2_GiB), RankOf16(8, 8, 1_GiB)}));
    ASSERT_TRUE(grid);
    EXPECT_THAT(KindsOfRanks(*grid, 0, 3), ElementsAre(0, -1, -1));
  }
}

TEST(RankGridTest, MachinesAndCardsStandInForUnknownDimensions) {
  ProcessView view = Rank(0, 10);
  view.run.simulated = true;
  view.cards = 8;
  const auto grid = GridOf(JobOf({view}));
  ASSERT_TRUE(grid);
  EXPECT_TRUE(grid->by_machine);
  EXPECT_EQ(grid->rows.size, 2U);
  EXPECT_EQ(grid->column_count(), 8U);
  EXPECT_EQ(grid->RankAt(1, 1), 9U);
  EXPECT_FALSE(grid->RankAt(1, 2).has_value());
}

TEST(RankGridTest, ProcessesWithoutRanksHaveNoGrid) {
  ProcessView view = Rank(0, 8);
  view.run.rank.clear();
  EXPECT_FALSE(GridOf(JobOf({view})).has_value());
  EXPECT_FALSE(GridOf(JobOf({Rank(0, 1)})).has_value());
}

}  // namespace
}  // namespace memtrace::analysis
