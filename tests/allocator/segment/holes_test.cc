// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/holes.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace memtrace {
namespace {

using State = Block::State;

constexpr Bytes kGranule = 2_MiB;
constexpr DeviceAddress kStart{uint64_t{1} << 40};

class HolesTest : public ::testing::Test {
 protected:
  struct Piece {
    State state;
    Bytes size;
  };

  // Tiles a segment from kStart on; the unmapped pieces are its holes.
  void Tile(std::initializer_list<Piece> pieces) {
    DeviceAddress at = kStart;
    for (const auto& [state, size] : pieces) {
      Block* block = arena_.New();
      block->address = at;
      block->size = size;
      block->state = state;
      if (!blocks_.empty()) {
        block->previous = blocks_.back();
        blocks_.back()->next = block;
      }
      blocks_.push_back(block);
      at += size;
      if (state == State::kUnmapped) holes_.Put(block);
    }
  }

  // Expects that a request of `size` is served by mapping `mapped` bytes of that piece, at `offset`
  // bytes from the segment's start.
  void ExpectGrowth(Bytes size, size_t piece, Bytes offset, Bytes mapped) const {
    const auto growth = holes_.PlanGrowth(size);
    ASSERT_TRUE(growth.has_value());
    EXPECT_EQ(growth->hole, blocks_[piece]);
    EXPECT_EQ(growth->address - kStart, offset);
    EXPECT_EQ(growth->size, mapped);
  }

  BlockArena arena_;
  std::vector<Block*> blocks_;
  Holes holes_{kGranule};
};

TEST_F(HolesTest, HoleIsFoundOnlyAtItsOwnAddresses) {
  Tile({{State::kAllocated, 2_MiB},
        {State::kUnmapped, 4_MiB},
        {State::kAllocated, 2_MiB},
        {State::kUnmapped, 2_MiB}});
  EXPECT_EQ(holes_.At(kStart), nullptr);
  EXPECT_EQ(holes_.At(kStart + 2_MiB), blocks_[1]);
  EXPECT_EQ(holes_.At(kStart + 6_MiB - 1), blocks_[1]);
  EXPECT_EQ(holes_.At(kStart + 6_MiB), nullptr);
  EXPECT_EQ(holes_.At(kStart + 8_MiB), blocks_[3]);
  EXPECT_EQ(holes_.At(kStart + 10_MiB), nullptr);
}

TEST_F(HolesTest, RemovedHoleIsGone) {
  Tile({{State::kUnmapped, 4_MiB}, {State::kAllocated, 2_MiB}, {State::kUnmapped, 8_MiB}});
  holes_.Remove(blocks_[2]);
  EXPECT_EQ(holes_.size(), 1u);
  EXPECT_EQ(holes_.At(kStart + 6_MiB), nullptr);
  EXPECT_FALSE(holes_.PlanGrowth(8_MiB).has_value());
}

TEST_F(HolesTest, HoleReplacesOneAtTheSameAddress) {
  Tile({{State::kUnmapped, 8_MiB}});
  Block* merged = arena_.New();
  merged->address = kStart;
  merged->size = 6_MiB;
  holes_.Put(merged);
  EXPECT_EQ(holes_.size(), 1u);
  EXPECT_EQ(holes_.At(kStart), merged);
}

TEST_F(HolesTest, RequestLongerThanAnyRunHasNoGrowth) {
  Tile({{State::kFree, 2_MiB}, {State::kUnmapped, 4_MiB}, {State::kFree, 2_MiB}});
  EXPECT_TRUE(holes_.PlanGrowth(8_MiB).has_value());
  EXPECT_FALSE(holes_.PlanGrowth(8_MiB + 512).has_value());
}

TEST_F(HolesTest, FreeMemoryBelowAHoleIsUsedFirst) {
  Tile({{State::kFree, 1_MiB}, {State::kUnmapped, 8_MiB}, {State::kAllocated, 2_MiB}});
  ExpectGrowth(4_MiB, 1, 1_MiB, 4_MiB);  // 3 MiB are missing: two granules
}

TEST_F(HolesTest, TopOfAHoleIsMappedIfMoreIsFreeAboveIt) {
  Tile({{State::kFree, 2_MiB}, {State::kUnmapped, 8_MiB}, {State::kFree, 4_MiB}});
  ExpectGrowth(6_MiB, 1, 8_MiB, 2_MiB);
}

TEST_F(HolesTest, AllOfAHoleIsMappedIfBothItsNeighboursAreNeeded) {
  Tile({{State::kFree, 2_MiB}, {State::kUnmapped, 4_MiB}, {State::kFree, 2_MiB}});
  ExpectGrowth(7_MiB, 1, 2_MiB, 4_MiB);
}

TEST_F(HolesTest, NeighboursInUseOrNotMergedYetDoNotCount) {
  Tile({{State::kAllocated, 4_MiB}, {State::kUnmapped, 4_MiB}, {State::kRecentlyFreed, 4_MiB}});
  ExpectGrowth(4_MiB, 1, 4_MiB, 4_MiB);
  EXPECT_FALSE(holes_.PlanGrowth(4_MiB + 512).has_value());
}

TEST_F(HolesTest, FewestGranulesComeFirstAndThenTheLowestAddress) {
  Tile({{State::kUnmapped, 8_MiB},
        {State::kAllocated, 2_MiB},
        {State::kUnmapped, 8_MiB},
        {State::kFree, 4_MiB},
        {State::kUnmapped, 8_MiB}});
  ExpectGrowth(4_MiB + 512, 2, 16_MiB, 2_MiB);
  ExpectGrowth(11_MiB, 2, 10_MiB, 8_MiB);  // not the last hole, which needs as many
}

TEST_F(HolesTest, RequestThatFitsInAFreeNeighbourNeedsNoGrowth) {
  Tile({{State::kFree, 4_MiB}, {State::kUnmapped, 4_MiB}});
  EXPECT_FALSE(holes_.PlanGrowth(4_MiB).has_value());
}

TEST_F(HolesTest, ObtainableIsZeroWithoutHoles) {
  Tile({{State::kFree, 4_MiB}});
  EXPECT_EQ(holes_.Obtainable(1_GiB), 0u);
}

TEST_F(HolesTest, ObtainableJoinsBothNeighboursOnlyIfTheWholeHoleCanBeMapped) {
  Tile({{State::kFree, 1_MiB}, {State::kUnmapped, 6_MiB}, {State::kFree, 3_MiB}});
  EXPECT_EQ(holes_.Obtainable(0), 3_MiB);
  EXPECT_EQ(holes_.Obtainable(4_MiB), 7_MiB);
  EXPECT_EQ(holes_.Obtainable(6_MiB), 10_MiB);
  EXPECT_EQ(holes_.Obtainable(60_MiB), 10_MiB);
}

TEST_F(HolesTest, ObtainableIsTheMaximumOverAllHoles) {
  Tile({{State::kUnmapped, 10_MiB},
        {State::kAllocated, 2_MiB},
        {State::kUnmapped, 4_MiB},
        {State::kFree, 5_MiB}});
  EXPECT_EQ(holes_.Obtainable(4_MiB), 9_MiB);
  EXPECT_EQ(holes_.Obtainable(10_MiB), 10_MiB);
}

}  // namespace
}  // namespace memtrace
