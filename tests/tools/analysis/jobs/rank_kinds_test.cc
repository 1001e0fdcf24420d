// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/rank_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/jobs/job_fixture.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;

ProcessView RankWith(uint64_t rank, uint64_t world, uint64_t bytes) {
  ProcessView view = Rank(rank, world);
  Hold(view, trace::Role::kParameter, "net", bytes);
  return view;
}

TEST(RankKindsTest, EqualRanksAreOneKindAndTheFullestComesFirst) {
  const std::vector<RankKind> kinds = KindsOf(
      {RankWith(0, 4, 1_GiB), RankWith(1, 4, 3_GiB), RankWith(2, 4, 1_GiB), RankWith(3, 4, 2_GiB)});
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_THAT(kinds[0].processes, ElementsAre(1));
  EXPECT_THAT(kinds[2].processes, ElementsAre(0, 2));
  EXPECT_EQ(kinds[2].ranks, 2U);
  EXPECT_EQ(RanksOfAll(kinds), 4U);
}

TEST(RankKindsTest, SmallestDifferenceIsAnotherKind) {
  ProcessView other = RankWith(1, 2, 1_GiB);
  other.nccl = 1;
  EXPECT_EQ(KindsOf({RankWith(0, 2, 1_GiB), other}).size(), 2U);
}

TEST(RankKindsTest, FullnessIsTheShareOfTheCard) {
  ProcessView small_card = RankWith(1, 2, 2_GiB);
  small_card.card_bytes = 4_GiB;
  const std::vector<RankKind> kinds = KindsOf({RankWith(0, 2, 10_GiB), small_card});
  EXPECT_THAT(kinds[0].processes, ElementsAre(1));
  EXPECT_EQ(UsedShare(small_card), 0.5);
}

TEST(RankKindsTest, VirtualRanksCountOnlyIfTheTraceSaysSo) {
  ProcessView first = RankWith(0, 512, 3_GiB);
  ProcessView last = RankWith(448, 512, 1_GiB);
  first.run.real_ranks = last.run.real_ranks = {0, 448};
  EXPECT_FALSE(KindsOf({first, last})[0].ranks.has_value());
  first.run.ranks_alike = 448;
  last.run.ranks_alike = 64;
  const std::vector<RankKind> kinds = KindsOf({first, last});
  EXPECT_EQ(kinds[0].ranks, 448U);
  EXPECT_EQ(RanksOfAll(kinds), 512U);
}

TEST(RankKindsTest, RanksThatAreCountedTwiceAreNotKnown) {
  ProcessView first = RankWith(0, 8, 3_GiB);
  ProcessView second = RankWith(1, 8, 1_GiB);
  first.run.real_ranks = second.run.real_ranks = {0, 1};
  first.run.ranks_alike = second.run.ranks_alike = 8;
  EXPECT_FALSE(KindsOf({first, second})[0].ranks.has_value());
}

TEST(RankKindsTest, ProcessesWithoutARankHaveNoKind) {
  ProcessView view = RankWith(0, 1, 1_GiB);
  view.run.rank.clear();
  EXPECT_TRUE(KindsOf({view}).empty());
  EXPECT_FALSE(RanksOfAll({}).has_value());
}

}  // namespace
}  // namespace memtrace::analysis
