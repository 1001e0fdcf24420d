// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/operation_blocks.h"

#include <gtest/gtest.h>

#include <thread>

namespace memtrace::recorder {
namespace {

class OperationBlocksTest : public testing::Test {
 protected:
  ~OperationBlocksTest() override { OperationBlocks::End(); }

  OperationBlocks blocks_;
};

TEST_F(OperationBlocksTest, LatestBlockOfAnOperationIsReturned) {
  const uint64_t operation = OperationBlocks::Begin();
  EXPECT_EQ(blocks_.Of(operation), 0U);
  blocks_.Note(10);
  blocks_.Note(11);
  EXPECT_EQ(blocks_.Of(operation), 11U);
}

TEST_F(OperationBlocksTest, AllocationOutsideAnOperationBelongsToNone) {
  const uint64_t operation = OperationBlocks::Begin();
  blocks_.Note(10);
  OperationBlocks::End();
  blocks_.Note(11);
  EXPECT_EQ(blocks_.Of(operation), 10U);
  EXPECT_EQ(blocks_.Of(0), 0U);
}

TEST_F(OperationBlocksTest, EachThreadHasItsOwnOperation) {
  const uint64_t mine = OperationBlocks::Begin();
  uint64_t other = 0;
  std::thread([&] {
    other = OperationBlocks::Begin();
    blocks_.Note(20);
  }).join();
  blocks_.Note(10);
  EXPECT_NE(mine, other);
  EXPECT_EQ(blocks_.Of(mine), 10U);
  EXPECT_EQ(blocks_.Of(other), 20U);
}

TEST_F(OperationBlocksTest, OldOperationIsForgottenAndNotConfusedWithAnother) {
  const uint64_t old = OperationBlocks::Begin();
  blocks_.Note(10);
  uint64_t latest = old;
  while (latest < old + OperationBlocks::kMost - 1) latest = OperationBlocks::Begin();
  EXPECT_EQ(blocks_.Of(old), 10U);
  latest = OperationBlocks::Begin();
  EXPECT_EQ(blocks_.Of(latest), 0U) << "it has allocated nothing";
  blocks_.Note(30);
  EXPECT_EQ(blocks_.Of(old), 0U);
  EXPECT_EQ(blocks_.Of(latest), 30U);
}

}  // namespace
}  // namespace memtrace::recorder
