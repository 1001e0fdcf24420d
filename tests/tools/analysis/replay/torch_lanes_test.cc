// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules are those of get_pool, get_free_block and BlockComparatorSize in
// c10/cuda/CUDACachingAllocator.cpp; each test names its own.
#include "tools/analysis/replay/torch/torch_lanes.h"

#include <gmock/gmock.h>

#include <deque>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;

constexpr DeviceAddress kBase{1_GiB};

// Lanes with blocks on their own, each in a separate segment.
class TorchLanesTest : public testing::Test {
 protected:
  explicit TorchLanesTest(const char* settings = "") : settings_(TorchSettings::Parse(settings)) {}

  TorchBlock& Free(Bytes offset, Bytes size) { return FreeIn(lane_, offset, size, /*chunk=*/0); }
  // Makes a free part of a reservation that could grow by `room`.
  TorchBlock& FreeExpandable(Bytes offset, Bytes size, Bytes room) {
    TorchBlock& block = FreeIn(lane_, offset, size, /*chunk=*/20_MiB);
    if (room > 0) {
      blocks_.push_back({.address = block.end(),
                         .size = room,
                         .before = &block,
                         .segment = block.segment,
                         .state = TorchBlock::State::kUnmapped});
      block.behind = &blocks_.back();
    }
    return block;
  }
  // Returns the offset of the block for a request; all ones if there is none.
  Bytes Find(Bytes rounded) const {
    const TorchBlock* found = lanes_.Find(lane_, rounded);
    return found == nullptr ? ~Bytes{0} : found->address - kBase;
  }
  static constexpr Bytes kNothing = ~Bytes{0};

  TorchSettings settings_;
  TorchLanes lanes_{settings_};
  TorchLane& lane_ = lanes_.At(0, /*is_small=*/false, kStream);

 private:
  TorchBlock& FreeIn(TorchLane& lane, Bytes offset, Bytes size, Bytes chunk) {
    segments_.push_back({.base = kBase + offset,
                         .size = size,
                         .chunk = chunk,
                         .ordinal = static_cast<uint32_t>(segments_.size()),
                         .lane = &lane});
    blocks_.push_back({.address = kBase + offset, .size = size, .segment = &segments_.back()});
    lanes_.Put(blocks_.back());
    return blocks_.back();
  }

  std::deque<TorchSegment> segments_;
  std::deque<TorchBlock> blocks_;
};

// get_pool: a rounded size up to kSmallSize (1 MiB) is small; blocks of two streams or of two
// MemPools are in different sets, or never compare as equal.
TEST_F(TorchLanesTest, SizeClassesStreamsAndPoolsHaveSeparateLanes) {
  EXPECT_EQ(&lanes_.Of({1_MiB, kStream, 0}), &lanes_.At(0, /*is_small=*/true, kStream));
  EXPECT_EQ(&lanes_.Of({1_MiB + 1, kStream, 0}), &lane_);
  EXPECT_NE(&lanes_.Of({2_MiB, kOther, 0}), &lane_);
  EXPECT_NE(&lanes_.Of({2_MiB, kStream, 1}), &lane_);
  EXPECT_EQ(lanes_.Of({2_MiB, kOther, 3}).pool, lanes_.Of({2_MiB, kStream, 3}).pool);
  EXPECT_NE(lanes_.Of({512, kStream, 3}).pool, lanes_.Of({2_MiB, kStream, 3}).pool);
}

// release_cached_blocks releases large_blocks before small_blocks.
TEST_F(TorchLanesTest, DefaultPoolAndLargeLanesAreVisitedFirst) {
  lanes_.At(1, /*is_small=*/false, kStream);
  lanes_.At(0, /*is_small=*/true, kStream);
  lanes_.At(0, /*is_small=*/false, kOther);
  std::vector<std::string> visited;
  lanes_.ForEach([&visited](const TorchLane& lane) {
    visited.push_back(std::to_string(lane.pool->number) + (lane.pool->is_small ? " small " : " ") +
                      std::to_string(static_cast<uint64_t>(lane.stream)));
  });
  EXPECT_THAT(visited, ElementsAre("0 0", "0 7", "0 small 0", "1 0"));
}

// BlockComparatorSize orders by size and then by address, and get_free_block takes lower_bound.
TEST_F(TorchLanesTest, SmallestFitIsFoundAndLowestAmongEquals) {
  Free(0, 8_MiB);
  Free(20_MiB, 4_MiB);
  Free(10_MiB, 4_MiB);
  EXPECT_EQ(Find(3_MiB), 10_MiB);
  EXPECT_EQ(Find(4_MiB), 10_MiB);
  EXPECT_EQ(Find(4_MiB + 512), 0U);
  EXPECT_EQ(Find(8_MiB + 512), kNothing);
}

// torch 2.13 orders blocks of one size by the registration counter of their segment
// (pytorch#183591).
TEST_F(TorchLanesTest, OldestSegmentIsFoundAmongEqualsIfConfigured) {
  settings_.oldest_segment_first = true;
  Free(20_MiB, 4_MiB);
  Free(10_MiB, 4_MiB);
  EXPECT_EQ(Find(4_MiB), 20_MiB);
}

// get_free_block looks only at blocks of the request's stream.
TEST_F(TorchLanesTest, BlocksOfOtherLanesAreNotFound) {
  Free(0, 4_MiB);
  EXPECT_EQ(lanes_.Find(lanes_.At(0, /*is_small=*/false, kOther), 4_MiB), nullptr);
  EXPECT_EQ(lanes_.Find(lanes_.At(0, /*is_small=*/true, kStream), 512), nullptr);
}

// PrivatePool and BlockPool keep `blocks` and `unmapped` apart: unmapped memory is not free.
TEST_F(TorchLanesTest, UnmappedBlockIsListedSeparately) {
  TorchBlock& block = Free(0, 4_MiB);
  lanes_.TakeOut(block);
  EXPECT_FALSE(lanes_.Lists(block));
  block.state = TorchBlock::State::kUnmapped;
  lanes_.Put(block);
  EXPECT_FALSE(lanes_.Lists(block));
  EXPECT_EQ(lane_.unmapped.size(), 1U);
  EXPECT_EQ(Find(512), kNothing);
  lanes_.TakeOut(block);
  EXPECT_TRUE(lane_.unmapped.empty());
}

// gc_count() of a block is the number of searches of its pool since it became free.
TEST_F(TorchLanesTest, BlockNotesWhenItBecameFree) {
  lane_.pool->searches = 5;
  TorchBlock& block = Free(0, 4_MiB);
  EXPECT_EQ(block.free_since, 5U);
  lanes_.TakeOut(block);
  lane_.pool->searches = 9;
  lanes_.Put(block);
  EXPECT_EQ(block.free_since, 9U);
}

class KeptApartTest : public TorchLanesTest {
 protected:
  KeptApartTest() : TorchLanesTest("max_split_size_mb:32,max_non_split_rounding_mb:20") {}
};

// get_free_block: "Do not return an oversized block for a large request".
TEST_F(KeptApartTest, SmallerRequestDoesNotGetAnOversizeBlock) {
  Free(0, 32_MiB);
  EXPECT_EQ(Find(30_MiB), kNothing);
}

// get_free_block: "Allow oversized block size to be rounded up but within a limit".
TEST_F(KeptApartTest, OversizeRequestGetsOnlyASlightlyLargerBlock) {
  Free(0, 60_MiB);
  EXPECT_EQ(Find(40_MiB), kNothing);
  EXPECT_EQ(Find(40_MiB + 512), 0U);
}

class ExpandableLanesTest : public TorchLanesTest {
 protected:
  ExpandableLanesTest() : TorchLanesTest("expandable_segments:True") {}
};

// get_free_block treats a block of an expandable segment as large as it could become, and goes on
// to larger blocks while those could become smaller.
TEST_F(ExpandableLanesTest, BlockThatCouldGrowLessIsPreferred) {
  FreeExpandable(0, 4_MiB, /*room=*/100_MiB);
  FreeExpandable(1_GiB, 6_MiB, /*room=*/40_MiB);
  FreeExpandable(2_GiB, 50_MiB, /*room=*/0);
  EXPECT_EQ(Find(3_MiB), 1_GiB);
  EXPECT_EQ(Find(10_MiB), 2_GiB);
}

TEST_F(ExpandableLanesTest, SearchEndsAtTheFirstLargerBlockThatCouldGrowMore) {
  FreeExpandable(0, 4_MiB, /*room=*/50_MiB);
  FreeExpandable(1_GiB, 6_MiB, /*room=*/90_MiB);
  FreeExpandable(2_GiB, 8_MiB, /*room=*/0);
  EXPECT_EQ(Find(3_MiB), 0U);
}

// get_free_block: after expandable_segments is switched off again, blocks of expandable segments
// are skipped.
TEST_F(TorchLanesTest, ExpandableBlocksAreSkippedIfSegmentsDoNotExpand) {
  FreeExpandable(0, 4_MiB, /*room=*/20_MiB);
  FreeExpandable(1_GiB, 5_MiB, /*room=*/20_MiB);
  EXPECT_EQ(Find(4_MiB), kNothing);
  Free(2_GiB, 9_MiB);
  EXPECT_EQ(Find(4_MiB), 2_GiB);
}

}  // namespace
}  // namespace memtrace::replay
