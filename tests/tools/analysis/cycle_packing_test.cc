// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/cycle_packing.h"

#include <gtest/gtest.h>

#include <random>

namespace memtrace::analysis {
namespace {

// True if no two items share a byte while both are alive, including the two lives of wrapped ones.
bool IsValid(const TimeLine& line, const Packing& packing) {
  struct Piece {
    PackingItem item;
    Bytes offset;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < line.items.size(); ++i) {
    PackingItem item = line.items[i];
    for (const auto& wrapped : line.wrapped) {
      if (wrapped.item != i) continue;
      pieces.push_back({{item.begin, wrapped.free_from, item.size}, packing.offsets[i]});
      item.begin = wrapped.free_until;
    }
    pieces.push_back({item, packing.offsets[i]});
  }
  for (const Piece& a : pieces) {
    if (a.item.begin < a.item.end && a.offset + a.item.size > packing.height) return false;
    for (const Piece& b : pieces) {
      if (&a == &b || a.item.begin >= b.item.end || b.item.begin >= a.item.end) continue;
      if (a.offset < b.offset + b.item.size && b.offset < a.offset + a.item.size) return false;
    }
  }
  return true;
}

// Alive at [0, 2) and [8, 10): 4 bytes that others may use in between.
TimeLine OneWrapped() {
  TimeLine line;
  line.items = {{0, 10, 4}, {2, 8, 3}, {3, 8, 1}};
  line.wrapped = {{0, 2, 8}};
  return line;
}

TEST(CyclePackingTest, PlaceOfAWrappedBlockIsReusedWhileFree) {
  const TimeLine line = OneWrapped();
  const Packing packing = PackCycle(line);
  EXPECT_EQ(packing.height, 4u);
  EXPECT_EQ(packing.lower_bound, 4u);
  EXPECT_TRUE(packing.is_optimal);
  EXPECT_TRUE(IsValid(line, packing));
}

TEST(CyclePackingTest, PlaceOfAWrappedBlockIsFreeWhenItReturns) {
  TimeLine line = OneWrapped();
  line.items[1].end = 9;
  const Packing packing = PackCycle(line);
  EXPECT_EQ(packing.height, 7u);
  EXPECT_TRUE(IsValid(line, packing));
}

TEST(CyclePackingTest, PredecessorHasThePlaceOfTheWrappedBlock) {
  TimeLine line;
  line.prologue = 2;
  line.items = {{0, 0, 4}, {0, 2, 2}, {0, 10, 4}};
  line.wrapped = {{2, 5, 8}};
  line.predecessors = {{0, 2}};
  const Packing packing = PackCycle(line);
  EXPECT_EQ(packing.offsets[0], packing.offsets[2]);
  EXPECT_EQ(packing.height, 6u);
}

TEST(CyclePackingTest, RandomTimeLinesArePackedWithoutOverlap) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    TimeLine line;
    line.prologue = 10;
    for (uint64_t i = 0; i < 40; ++i) {
      const uint64_t begin = random() % 45;
      line.items.push_back({begin, begin + 1 + random() % 12, 1 + random() % 8});
    }
    for (size_t i = 0; i < random() % 6; ++i) {
      line.wrapped.push_back({line.items.size(), 20 + random() % 5, 45 + random() % 5});
      line.items.push_back({random() % 11, 57, 1 + random() % 12});
    }
    const Packing packing = PackCycle(line, {.capacity = 0, .steps = 1000});
    EXPECT_TRUE(IsValid(line, packing)) << round;
    EXPECT_GE(packing.height, packing.lower_bound);
  }
}

}  // namespace
}  // namespace memtrace::analysis
