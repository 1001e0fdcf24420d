// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ranks/rank_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kRankGiB = uint64_t{1} << 30;

launch::JobRanks JobOf(int world) {
  launch::JobRanks job;
  job.world = world;
  job.cards = 8;
  job.real = {0};
  job.is_auto = true;
  return job;
}

RankKinds FourStages() {
  return {.kinds = {{0, 4}, {4, 4}, {8, 4}, {12, 4}}, .has_groups = true, .host_bytes = kRankGiB};
}

TEST(RankKindsTest, OneRankOfEachKindRuns) {
  const launch::JobRanks job = WithRanks(JobOf(16), FourStages(), 64 * kRankGiB);
  EXPECT_THAT(job.real, ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(job.alike, ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(job.left_out, IsEmpty());
  EXPECT_FALSE(job.is_auto);
  EXPECT_TRUE(job.HasEachKind());
}

TEST(RankKindsTest, NoMoreRanksRunThanTheHostCarries) {
  const launch::JobRanks job =
      WithRanks(JobOf(16), FourStages(), 2 * HostBytesOfRank(FourStages()));
  EXPECT_THAT(job.real, ElementsAre(0, 4));
  EXPECT_THAT(job.left_out, ElementsAre(8, 12));
  EXPECT_FALSE(job.HasEachKind());
}

TEST(RankKindsTest, KindsThatDoNotStandForAllRanksAreNotEachKind) {
  EXPECT_FALSE(WithRanks(JobOf(18), FourStages(), 64 * kRankGiB).HasEachKind());
}

TEST(RankKindsTest, OneRankRunsOnAnyHost) {
  EXPECT_THAT(WithRanks(JobOf(16), FourStages(), 1).real, ElementsAre(0));
}

TEST(RankKindsTest, ImportantKindsAreKeptAndRanksAreInOrder) {
  RankKinds found = FourStages();
  found.kinds = {{0, 2}, {8, 2}, {3, 1}, {11, 1}};
  const launch::JobRanks job = WithRanks(JobOf(16), found, 3 * HostBytesOfRank(found));
  EXPECT_THAT(job.real, ElementsAre(0, 3, 8));
  EXPECT_THAT(job.alike, ElementsAre(2, 1, 2));
  EXPECT_THAT(job.left_out, ElementsAre(11));
}

TEST(RankKindsTest, DamagedFilesAreRejected) {
  const std::string file = testing::TempDir() + "/kinds.json";
  EXPECT_EQ(ReadRankKinds(file + ".absent").status().code(), absl::StatusCode::kNotFound);
  for (const char* text : {"", "{\"kinds\": [{\"rank\": 0", "[]", "{\"kinds\": []}"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(ReadRankKinds(file).status().code(), absl::StatusCode::kDataLoss) << text;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace memtrace::fit
