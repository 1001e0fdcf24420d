// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/job_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/analysis/jobs/job_fixture.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;

// Returns the dimensions as "pp 8x64", the largest stride first.
std::vector<std::string> Words(const std::vector<JobDimension>& dimensions) {
  std::vector<std::string> words;
  words.reserve(dimensions.size());
  for (const JobDimension& of : dimensions)
    words.push_back(of.name + " " + std::to_string(of.size) + "x" + std::to_string(of.stride));
  return words;
}

ProcessView RankOfTitan(uint64_t rank) {
  ProcessView view = Rank(rank, 512);
  Join(view, "default_pg", 512, 1);
  Join(view, "pp", 8, 64);
  Join(view, "dp_shard", 8, 8);
  Join(view, "tp", 8, 1);
  return view;
}

TEST(JobShapeTest, MeshGivesItsDimensions) {
  const JobShape shape = ShapeOf({RankOfTitan(0), RankOfTitan(448)});
  EXPECT_THAT(Words(shape.dimensions), ElementsAre("pp 8x64", "dp_shard 8x8", "tp 8x1"));
  ASSERT_NE(shape.pipeline(), nullptr);
  EXPECT_EQ(shape.pipeline()->PlaceOf(448), 7U);
  EXPECT_EQ(Words(shape.Whole()), Words(shape.dimensions));
}

TEST(JobShapeTest, FlattenedDimensionsAndOddGroupsAreLeftOut) {
  ProcessView view = RankOfTitan(0);
  Join(view, "dp_shard_tp", 64, 1);
  Join(view, "", 8, 8);  // the same ranks as dp_shard, without a name
  view.run.groups.push_back({.name = "EMBEDDING", .size = 2, .at = 0, .first = 0, .stride = 448});
  view.run.groups.push_back({.name = "uneven", .size = 3, .at = 0, .first = 0, .stride = 0});
  EXPECT_THAT(Words(ShapeOf({view}).dimensions), ElementsAre("pp 8x64", "dp_shard 8x8", "tp 8x1"));
}

TEST(JobShapeTest, GroupThatOneRankDoesNotHaveIsNoDimension) {
  ProcessView last = RankOfTitan(448);
  last.run.groups.pop_back();
  EXPECT_THAT(Words(ShapeOf({RankOfTitan(0), last}).dimensions),
              ElementsAre("pp 8x64", "dp_shard 8x8"));
}

TEST(JobShapeTest, RanksBetweenNamedDimensionsAreADimensionWithoutAName) {
  ProcessView view = Rank(5, 64);
  Join(view, "pp", 2, 32);
  Join(view, "tp", 4, 1);
  const JobShape shape = ShapeOf({view});
  EXPECT_THAT(Words(shape.dimensions), ElementsAre("pp 2x32", "tp 4x1"));
  EXPECT_THAT(Words(shape.Whole()), ElementsAre("pp 2x32", " 8x4", "tp 4x1"));
}

TEST(JobShapeTest, GroupThatDoesNotHaveTheRankIsNotBelieved) {
  ProcessView view = Rank(5, 64);
  view.run.groups.push_back({.name = "pp", .size = 2, .at = 1, .first = 0, .stride = 32});
  EXPECT_TRUE(ShapeOf({view}).dimensions.empty());
}

TEST(JobShapeTest, JobWithoutGroupsHasNoDimensions) {
  const JobShape shape = ShapeOf({Rank(0, 8)});
  EXPECT_EQ(shape.world, 8U);
  EXPECT_TRUE(shape.dimensions.empty());
  EXPECT_EQ(shape.pipeline(), nullptr);
  EXPECT_THAT(Words(shape.Whole()), ElementsAre(" 8x1"));
}

TEST(JobShapeTest, NamesOfLibrariesAreKnown) {
  EXPECT_EQ(ParallelismNamed("pp"), Parallelism::kPipeline);
  EXPECT_EQ(ParallelismNamed("PIPELINE_MODEL_PARALLEL_GROUP"), Parallelism::kPipeline);
  EXPECT_EQ(ParallelismNamed("TENSOR_MODEL_PARALLEL_GROUP"), Parallelism::kTensor);
  EXPECT_EQ(ParallelismNamed("dp_shard"), Parallelism::kData);
  EXPECT_EQ(ParallelismNamed("DATA_PARALLEL_GROUP_WITH_CP"), Parallelism::kData);
  EXPECT_EQ(ParallelismNamed("cp"), Parallelism::kContext);
  EXPECT_EQ(ParallelismNamed("ep"), Parallelism::kExpert);
  EXPECT_EQ(ParallelismNamed("mesh_dim_0"), Parallelism::kOther);
  EXPECT_EQ(ParallelismNamed("support"), Parallelism::kOther);
}

}  // namespace
}  // namespace memtrace::analysis
