// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// alloc_found_block in c10/cuda/CUDACachingAllocator.cpp splits a block in two that are linked to
// each other; try_merge_blocks joins neighbours that are both mapped and not in use, or both
// unmapped.
#include "tools/analysis/replay/torch/torch_tiling.h"

#include <gtest/gtest.h>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using State = TorchBlock::State;

class TorchTilingTest : public testing::Test {
 protected:
  TorchTilingTest() { tiling_.Cover(segment_); }

  static void Become(TorchBlock& block, State state) { block.state = state; }
  // Checks that every block is linked to its neighbours, and that they fill the segment.
  void CheckTiles() const {
    DeviceAddress next = segment_.base;
    const TorchBlock* before = nullptr;
    for (const TorchBlock* block = segment_.first; block != nullptr; block = block->behind) {
      EXPECT_EQ(block->before, before);
      EXPECT_EQ(block->address, next);
      EXPECT_EQ(block->segment, &segment_);
      next = block->end();
      before = block;
    }
    EXPECT_EQ(next, segment_.base + segment_.size);
  }

  TorchSettings settings_;
  TorchLanes lanes_{settings_};
  TorchSegment segment_{.base = DeviceAddress{1_GiB},
                        .size = 12_MiB,
                        .lane = &lanes_.At(0, /*is_small=*/false, kStream)};
  TorchTiling tiling_{lanes_};
};

TEST_F(TorchTilingTest, NewSegmentIsOneUnlistedFreeBlock) {
  EXPECT_EQ(Contents(segment_), "free 12M");
  EXPECT_FALSE(lanes_.Lists(*segment_.first));
  CheckTiles();
}

TEST_F(TorchTilingTest, CutPartKeepsStateAndNeighbours) {
  TorchBlock* middle = tiling_.CutAt(*segment_.first, 4_MiB);
  Become(*middle, State::kInUse);
  TorchBlock* last = tiling_.CutAt(*middle, 3_MiB);
  TorchBlock* second = tiling_.CutAt(*segment_.first, 1_MiB);
  EXPECT_EQ(Contents(segment_), "free 1M, free 3M, used 3M, used 5M");
  EXPECT_EQ(last->behind, nullptr);
  EXPECT_EQ(second->behind, middle);
  CheckTiles();
}

TEST_F(TorchTilingTest, NeighboursOfTheSameStateAreMergedAndUnlisted) {
  TorchBlock* second = tiling_.CutAt(*segment_.first, 2_MiB);
  TorchBlock* third = tiling_.CutAt(*second, 3_MiB);
  lanes_.Put(*segment_.first);
  lanes_.Put(*third);
  TorchBlock* merged = tiling_.Merge(second);
  EXPECT_EQ(merged, segment_.first);
  EXPECT_EQ(Contents(segment_), "free 12M");
  EXPECT_TRUE(segment_.lane->free.empty());
  CheckTiles();
}

TEST_F(TorchTilingTest, NeighboursOfOtherStatesAreUnchanged) {
  TorchBlock* second = tiling_.CutAt(*segment_.first, 2_MiB);
  TorchBlock* third = tiling_.CutAt(*second, 3_MiB);
  Become(*segment_.first, State::kUnmapped);
  lanes_.Put(*segment_.first);
  Become(*third, State::kInUse);
  EXPECT_EQ(tiling_.Merge(second), second);
  EXPECT_EQ(Contents(segment_), "unmapped 2M, free 3M, used 7M");
  EXPECT_EQ(segment_.lane->unmapped.size(), 1U);
  CheckTiles();
}

TEST_F(TorchTilingTest, UnmappedNeighboursAreMerged) {
  TorchBlock* second = tiling_.CutAt(*segment_.first, 2_MiB);
  Become(*segment_.first, State::kUnmapped);
  Become(*second, State::kUnmapped);
  lanes_.Put(*second);
  EXPECT_EQ(tiling_.Merge(segment_.first), segment_.first);
  EXPECT_EQ(Contents(segment_), "unmapped 12M");
  EXPECT_TRUE(segment_.lane->unmapped.empty());
}

TEST_F(TorchTilingTest, MergeInTheMiddleKeepsTheNextBlock) {
  TorchBlock* second = tiling_.CutAt(*segment_.first, 2_MiB);
  TorchBlock* third = tiling_.CutAt(*second, 3_MiB);
  Become(*third, State::kInUse);
  lanes_.Put(*second);
  tiling_.Merge(segment_.first);
  EXPECT_EQ(Contents(segment_), "free 5M, used 7M");
  CheckTiles();
}

// A long replay cuts and merges a million times; its memory depends on the blocks alive at one
// time.
TEST_F(TorchTilingTest, RecordOfAMergedBlockIsReused) {
  const TorchBlock* rest = tiling_.CutAt(*segment_.first, 4_MiB);
  lanes_.Put(*segment_.first->behind);
  tiling_.Merge(segment_.first);
  EXPECT_EQ(tiling_.CutAt(*segment_.first, 5_MiB), rest);
  EXPECT_EQ(rest->size, 7_MiB);
  TorchSegment other{.base = DeviceAddress{2_GiB}, .size = 2_MiB, .lane = segment_.lane};
  tiling_.Cover(other);
  const TorchBlock* only = other.first;
  tiling_.Uncover(other);
  EXPECT_EQ(tiling_.CutAt(*segment_.first, 1_MiB), only);
  CheckTiles();
}

}  // namespace
}  // namespace memtrace::replay
