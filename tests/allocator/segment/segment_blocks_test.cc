// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/segment_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;

constexpr DeviceAddress kStart{uint64_t{1} << 40};

class SegmentBlocksTest : public ::testing::Test {
 protected:
  SegmentBlocksTest() { Reserve({.size = 16_MiB, .granule = 2_MiB}); }

  void Reserve(const SegmentShape& shape) {
    blocks_ = std::make_unique<SegmentBlocks>(nullptr, kStart, shape, arena_);
  }
  // Fills [begin, end), counted from the segment's start, as are those of the next two.
  void Fill(Bytes begin, Bytes end) {
    blocks_->Fill(blocks_->holes().At(kStart + begin), {kStart + begin, kStart + end});
    blocks_->CheckInvariants();
  }
  void MakeHole(Block* free, Bytes begin, Bytes end) {
    blocks_->MakeHole(free, {kStart + begin, kStart + end});
    blocks_->CheckInvariants();
  }
  Block* TakeAt(Bytes offset, Bytes size) {
    Block* block = blocks_->TakeAt(kStart + offset, size);
    blocks_->CheckInvariants();
    return block;
  }
  Block* Take(Bytes size) {
    Block* block = blocks_->Take(size);
    blocks_->CheckInvariants();
    return block;
  }
  void Return(Block* block) {
    blocks_->Return(block);
    blocks_->CheckInvariants();
  }
  Block* FreeAt(Bytes offset) {
    Block* block = const_cast<Block*>(blocks_->first());
    while (block->address < kStart + offset) block = block->next;
    return block;
  }

  // Returns the blocks in address order: "2MiB in use".
  std::vector<std::string> Contents() const {
    std::vector<std::string> lines;
    for (const Block* block = blocks_->first(); block != nullptr; block = block->next) {
      lines.push_back(SizeText(block->size) + (block->is(Block::State::kUnmapped) ? " hole"
                                               : block->is(Block::State::kFree)   ? " free"
                                                                                  : " in use"));
    }
    return lines;
  }

  BlockArena arena_;
  std::unique_ptr<SegmentBlocks> blocks_;
};

TEST_F(SegmentBlocksTest, NewSegmentIsOneHole) {
  EXPECT_THAT(Contents(), ElementsAre("16MiB hole"));
  EXPECT_EQ(Take(512), nullptr);
  EXPECT_EQ(TakeAt(0, 512), nullptr);
}

TEST_F(SegmentBlocksTest, FilledPartOfAHoleLeavesHolesOnBothSides) {
  Fill(4_MiB, 6_MiB);
  EXPECT_THAT(Contents(), ElementsAre("4MiB hole", "2MiB free", "10MiB hole"));
  EXPECT_EQ(blocks_->holes().size(), 2u);
  EXPECT_EQ(blocks_->holes().At(kStart + 4_MiB), nullptr);
  EXPECT_NE(blocks_->holes().At(kStart + 6_MiB), nullptr);
}

TEST_F(SegmentBlocksTest, FilledPartMergesWithFreeNeighbours) {
  Fill(0, 2_MiB);
  Fill(4_MiB, 6_MiB);
  Fill(2_MiB, 4_MiB);
  EXPECT_THAT(Contents(), ElementsAre("6MiB free", "10MiB hole"));
}

TEST_F(SegmentBlocksTest, DugPartMergesWithNeighbouringHoles) {
  Fill(0, 8_MiB);
  MakeHole(FreeAt(0), 0, 2_MiB);
  MakeHole(FreeAt(2_MiB), 4_MiB, 6_MiB);
  EXPECT_THAT(Contents(),
              ElementsAre("2MiB hole", "2MiB free", "2MiB hole", "2MiB free", "8MiB hole"));
  MakeHole(FreeAt(2_MiB), 2_MiB, 4_MiB);
  EXPECT_THAT(Contents(), ElementsAre("6MiB hole", "2MiB free", "8MiB hole"));
  MakeHole(FreeAt(6_MiB), 6_MiB, 8_MiB);
  EXPECT_THAT(Contents(), ElementsAre("16MiB hole"));
}

TEST_F(SegmentBlocksTest, TakenBlockIsTheBestFit) {
  Fill(0, 6_MiB);
  Fill(8_MiB, 10_MiB);
  EXPECT_EQ(Take(1_MiB)->address, kStart + 8_MiB);
  EXPECT_EQ(Take(3_MiB)->address, kStart);
  EXPECT_EQ(Take(4_MiB), nullptr);
  EXPECT_THAT(Contents(), ElementsAre("3MiB in use", "3MiB free", "2MiB hole", "1MiB in use",
                                      "1MiB free", "6MiB hole"));
}

TEST_F(SegmentBlocksTest, SegmentThatHoldsOneBlockIsUsedWhole) {
  Reserve({.size = 8_MiB, .granule = 8_MiB, .holds_one = true});
  Fill(0, 8_MiB);
  EXPECT_EQ(Take(512)->size, 8_MiB);
  EXPECT_THAT(Contents(), ElementsAre("8MiB in use"));
}

TEST_F(SegmentBlocksTest, ReturnedBlockMergesWithFreeNeighbours) {
  Fill(0, 6_MiB);
  Block* first = Take(2_MiB);
  Block* second = Take(2_MiB);
  Return(first);
  EXPECT_THAT(Contents(), ElementsAre("2MiB free", "2MiB in use", "2MiB free", "10MiB hole"));
  Return(second);
  EXPECT_THAT(Contents(), ElementsAre("6MiB free", "10MiB hole"));
}

// Runs the same tests for a segment that walks its blocks to find free ranges, and for one that
// keeps them by address.
class StatedAddressTest : public SegmentBlocksTest, public ::testing::WithParamInterface<bool> {
 protected:
  StatedAddressTest() { Reserve({.size = 16_MiB, .granule = 2_MiB, .is_planned = GetParam()}); }
};

TEST_P(StatedAddressTest, BlockIsCutOutOfAFreeRange) {
  Fill(2_MiB, 8_MiB);
  Block* block = TakeAt(3_MiB, 2_MiB);
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(block->is(Block::State::kAllocated));
  EXPECT_THAT(Contents(),
              ElementsAre("2MiB hole", "1MiB free", "2MiB in use", "3MiB free", "8MiB hole"));
}

TEST_P(StatedAddressTest, RangeThatIsNotEntirelyFreeIsNotTaken) {
  Fill(2_MiB, 8_MiB);
  ASSERT_NE(TakeAt(4_MiB, 1_MiB), nullptr);
  EXPECT_EQ(TakeAt(0, 1_MiB), nullptr);            // a hole
  EXPECT_EQ(TakeAt(1_MiB, 2_MiB), nullptr);        // begins in a hole
  EXPECT_EQ(TakeAt(7_MiB, 1_MiB + 512), nullptr);  // ends in one
  EXPECT_EQ(TakeAt(4_MiB, 512), nullptr);          // in use
  EXPECT_EQ(TakeAt(3_MiB, 1_MiB + 512), nullptr);  // ends in a block in use
  EXPECT_NE(TakeAt(7_MiB, 1_MiB), nullptr);        // to the last byte
}

INSTANTIATE_TEST_SUITE_P(WalkedAndPlanned, StatedAddressTest, ::testing::Bool());

TEST_F(SegmentBlocksTest, DestructorRecyclesEveryRecord) {
  Fill(0, 6_MiB);
  Take(512);
  Take(1_MiB);
  blocks_.reset();
  EXPECT_EQ(arena_.live(), 0u);
}

}  // namespace
}  // namespace memtrace
