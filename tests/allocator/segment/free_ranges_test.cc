// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/free_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr DeviceAddress kStart;

// One mapped range of `size` bytes from kStart on, all of it free.
class FreeRangesTest : public ::testing::Test {
 protected:
  void Map(Bytes size) {
    Block* block = arena_.New();
    block->size = size;
    ranges_.Return(block);
  }
  Block* Take(Bytes size) {
    Block* block = ranges_.Take(size);
    ranges_.CheckInvariants();
    return block;
  }
  void Return(Block* block) {
    ranges_.Return(block);
    ranges_.CheckInvariants();
  }
  // Returns the offset and size of each range.
  std::vector<std::pair<Bytes, Bytes>> Contents() const {
    std::vector<std::pair<Bytes, Bytes>> contents;
    for (const Block* block : ranges_.FindAllFitting(0))
      contents.emplace_back(block->address - kStart, block->size);
    return contents;
  }

  BlockArena arena_;
  FreeRanges ranges_{arena_};
};

TEST_F(FreeRangesTest, TakingCutsFromTheFront) {
  Map(10);
  EXPECT_EQ(Take(3)->address, kStart);
  EXPECT_THAT(Contents(), ElementsAre(std::pair(3, 7)));
}

TEST_F(FreeRangesTest, TakingEverythingLeavesNoRange) {
  Map(10);
  Take(10);
  EXPECT_THAT(Contents(), IsEmpty());
  EXPECT_EQ(ranges_.largest(), 0u);
  EXPECT_EQ(ranges_.Take(1), nullptr);
}

TEST_F(FreeRangesTest, ReturnedBlockMergesWithBothNeighbours) {
  Map(9);
  Block* a = Take(3);
  Block* b = Take(3);
  Block* c = Take(3);
  Return(a);
  Return(c);
  EXPECT_THAT(Contents(), ElementsAre(std::pair(0, 3), std::pair(6, 3)));
  Return(b);
  EXPECT_THAT(Contents(), ElementsAre(std::pair(0, 9)));
  EXPECT_EQ(arena_.live(), 1u);
}

TEST_F(FreeRangesTest, SmallestThatFitsIsTakenNotTheFirst) {
  Map(100);
  Block* large = Take(50);
  Take(1);
  Block* small = Take(10);
  Take(39);
  Return(large);
  Return(small);
  EXPECT_EQ(Take(8)->address, kStart + 51u);
}

TEST_F(FreeRangesTest, AmongEqualsTheLowestAddressIsTaken) {
  Map(50);
  std::vector<Block*> blocks(5);
  for (Block*& block : blocks) block = Take(10);
  Return(blocks[4]);
  Return(blocks[0]);
  Return(blocks[2]);
  EXPECT_EQ(Take(10)->address, kStart);
  EXPECT_EQ(Take(10)->address, kStart + 20u);
  EXPECT_EQ(Take(10)->address, kStart + 40u);
}

TEST_F(FreeRangesTest, RangesAreListedSmallestFirst) {
  Map(60);
  std::vector<Block*> blocks;
  for (const Bytes size : {5u, 1u, 20u, 1u, 10u, 1u}) blocks.push_back(Take(size));
  for (const size_t i : {0u, 2u, 4u}) Return(blocks[i]);
  std::vector<Bytes> sizes;
  for (const Block* block : ranges_.FindAllFitting(10)) sizes.push_back(block->size);
  EXPECT_THAT(sizes, ElementsAre(10, 20, 22));
}

TEST_F(FreeRangesTest, WholeRangeIsTakenWithoutARest) {
  Map(100);
  Block* large = Take(50);
  Take(1);
  Return(large);
  Block* block = ranges_.TakeWhole(10);
  ranges_.CheckInvariants();
  EXPECT_EQ(block->address, kStart + 51u) << "the smaller of the two";
  EXPECT_EQ(block->size, 49u);
  EXPECT_THAT(Contents(), ElementsAre(std::pair(0, 50)));
  EXPECT_EQ(ranges_.TakeWhole(51), nullptr);
}

TEST_F(FreeRangesTest, RangeIsFoundByEachAddressInIt) {
  ranges_.KeepByAddress();
  Map(30);
  Block* low = Take(10);
  Block* high = Take(10);
  Block* const rest = ranges_.At(kStart + 20u);
  EXPECT_EQ(ranges_.At(kStart + 29u), rest);
  EXPECT_EQ(ranges_.At(kStart + 19u), nullptr);
  EXPECT_EQ(ranges_.At(kStart + 30u), nullptr);
  Return(low);
  EXPECT_EQ(ranges_.At(kStart + 9u), low);
  Return(high);  // now all is one range
  for (const Bytes offset : {0u, 15u, 29u}) EXPECT_EQ(ranges_.At(kStart + offset)->size, 30u);
}

TEST_F(FreeRangesTest, TakingAtAnAddressLeavesThePartsBeforeAndAfter) {
  ranges_.KeepByAddress();
  Map(30);
  const auto take_at = [&](Bytes offset, Bytes size) {
    Block* block = ranges_.TakeAt(ranges_.At(kStart + offset), kStart + offset, size);
    ranges_.CheckInvariants();
    return block;
  };
  Block* middle = take_at(10, 5);
  EXPECT_EQ(middle->address, kStart + 10u);
  EXPECT_EQ(middle->size, 5u);
  EXPECT_THAT(Contents(), ElementsAre(std::pair(0, 10), std::pair(15, 15)));
  take_at(15, 15);
  EXPECT_THAT(Contents(), ElementsAre(std::pair(0, 10)));
  Return(middle);
  EXPECT_THAT(Contents(), ElementsAre(std::pair(0, 15)));
}

// The naive rule looks through the list of all ranges.
TEST_F(FreeRangesTest, RandomOperationsAgreeWithANaiveModel) {
  Map(100'000);
  std::mt19937_64 random(1);
  std::vector<Block*> taken;
  for (int step = 0; step < 5'000; ++step) {
    if (random() % 2 == 0 || taken.empty()) {
      const Bytes size = 1 + random() % 300;
      Block* expected = nullptr;
      for (Block* block : ranges_.FindAllFitting(size)) {
        const bool is_better =
            expected == nullptr ||
            std::pair(block->size, block->address) < std::pair(expected->size, expected->address);
        if (is_better) expected = block;
      }
      Block* block = Take(size);
      ASSERT_EQ(block, expected);
      if (block != nullptr) taken.push_back(block);
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      Return(taken.back());
      taken.pop_back();
    }
  }
}

}  // namespace
}  // namespace memtrace
