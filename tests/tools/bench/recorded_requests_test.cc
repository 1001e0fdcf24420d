// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/recorded_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace memtrace::bench {
namespace {

using ::testing::ElementsAre;

TEST(RecordedRequestsTest, LivePeakRoundsBlocksUp) {
  SequenceBuilder builder;
  const uint32_t first = builder.Allocate(1, 7);
  builder.Allocate(513, 9);
  builder.Free(first);
  builder.Allocate(512, 7);
  const RequestSequence sequence = builder.Finish();
  EXPECT_EQ(LivePeak(sequence), 1'536);
  EXPECT_EQ(sequence.streams, 2);
  EXPECT_EQ(sequence.allocations(), 3);
}

TEST(RecordedRequestsTest, NumbersOfFreedBlocksAreUsedAgain) {
  SequenceBuilder builder;
  for (int i = 0; i < 1'000; ++i) builder.Free(builder.Allocate(512, 0));
  EXPECT_EQ(builder.Finish().blocks, 1);
}

TEST(RecordedRequestsTest, CurveFollowsTheBytesAlive) {
  SequenceBuilder builder;
  const uint32_t block = builder.Allocate(1_MiB, 0);
  builder.BeginStep();
  builder.Allocate(512, 0);
  builder.Free(block);
  EXPECT_THAT(LiveCurve(builder.Finish(), 4), ElementsAre(1_MiB, 1_MiB, 1_MiB + 512, 512));
}

TEST(RecordedRequestsTest, FileGivesTheSameSequence) {
  SequenceBuilder builder;
  builder.BeginStep();
  builder.Free(builder.Allocate(3_MiB, 5));
  const RequestSequence sequence = builder.Finish();
  const std::string path = testing::TempDir() + "/requests";
  ASSERT_TRUE(WriteRequests(sequence, path));
  RequestSequence read;
  ASSERT_TRUE(ReadRequests(path, &read));
  ASSERT_EQ(read.requests.size(), 3);
  EXPECT_EQ(read.requests[0].block, Request::kStep);
  EXPECT_EQ(read.requests[1].bytes, 3_MiB);
  EXPECT_TRUE(read.requests[2].IsFree());
}

TEST(RecordedRequestsTest, FileWithABlockBeyondItsNumbersIsRefused) {
  RequestSequence sequence{
      .requests = {{.bytes = 512, .block = 3, .stream = 0}}, .blocks = 1, .streams = 1};
  const std::string path = testing::TempDir() + "/wrong_requests";
  ASSERT_TRUE(WriteRequests(sequence, path));
  EXPECT_FALSE(ReadRequests(path, &sequence));
  std::filesystem::resize_file(path, 20);
  EXPECT_FALSE(ReadRequests(path, &sequence));
}

}  // namespace
}  // namespace memtrace::bench
