// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/rank_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::report {
namespace {

using analysis::Job;
using analysis::ProcessView;
using testing::EndsWith;

// A rank of a job of 2 stages x 4 tensor-parallel ranks.
ProcessView Rank(uint64_t rank) {
  ProcessView view;
  view.file = "rank.trace";
  view.run.rank = std::to_string(rank);
  view.run.world_size = "8";
  view.run.groups = {{.name = "pp", .size = 2, .at = rank / 4, .first = rank % 4, .stride = 4},
                     {.name = "tp", .size = 4, .at = rank % 4, .first = rank / 4 * 4, .stride = 1}};
  view.peak = rank + 1;
  return view;
}

TEST(RankWordsTest, NeighbouringRanksAreARange) {
  EXPECT_EQ(RanksName({7}), "rank 7");
  EXPECT_EQ(RanksName({0, 1, 2, 3, 7, 9, 10}), "ranks 0-3, 7, 9-10");
}

TEST(RankWordsTest, ManyRanksAreCounted) {
  std::vector<uint64_t> odd;
  for (uint64_t rank = 1; rank < 200; rank += 2) odd.push_back(rank);
  EXPECT_THAT(RanksName(odd), EndsWith("29, 31 and 84 more"));
}

TEST(RankWordsTest, PlacesCountFromOne) {
  const Job job = analysis::JobOf({Rank(0), Rank(6)});
  EXPECT_EQ(PlacesOf(job, job.processes[1]),
            "pipeline stage 2 of 2 ('pp'), tensor-parallel rank 3 of 4 ('tp')");
}

TEST(RankWordsTest, KindHasThePlacesInWhichRanksDiffer) {
  const Job stages = analysis::JobOf({Rank(0), Rank(4)});
  EXPECT_EQ(NameWithPlace(stages, 1), "rank 4 (pipeline stage 2 of 2)");
  const Job both = analysis::JobOf({Rank(0), Rank(6)});
  EXPECT_EQ(NameWithPlace(both, 1), "rank 6 (pp 2 of 2, tp 3 of 4)");
  EXPECT_EQ(NameWithPlace(analysis::JobOf({Rank(3)}), 0), "rank 3");
}

TEST(RankWordsTest, ProcessWithoutARankIsItsFile) {
  ProcessView view;
  view.file = "run.trace";
  EXPECT_EQ(ProcessName(view), "run.trace");
  EXPECT_EQ(UsedPercent(view), "");
}

}  // namespace
}  // namespace memtrace::report
