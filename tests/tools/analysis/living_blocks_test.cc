// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/living_blocks.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>

namespace memtrace::analysis {
namespace {

TEST(LivingBlocksTest, AnAddressInsideABlockFindsIt) {
  LivingBlocks living;
  living.Insert(1024, 7);
  living.Insert(512, 3);
  EXPECT_EQ(living.AtOrBelow(600), 3U);
  EXPECT_EQ(living.AtOrBelow(512), 3U);
  EXPECT_EQ(living.AtOrBelow(5000), 7U);
  EXPECT_EQ(living.AtOrBelow(511), std::nullopt);
}

TEST(LivingBlocksTest, WhatHasDiedIsNotFoundThoughItOnceWasInOrder) {
  LivingBlocks living;
  living.Insert(512, 3);
  living.Insert(1024, 7);
  EXPECT_EQ(living.AtOrBelow(2000), 7U);
  living.Erase(1024);
  EXPECT_EQ(living.At(1024), std::nullopt);
  EXPECT_EQ(living.AtOrBelow(2000), 3U);
  living.Insert(1024, 9);
  EXPECT_EQ(living.AtOrBelow(2000), 9U);
}

// Against an ordered map, through every way that the order is kept or made anew.
TEST(LivingBlocksTest, AnyMixtureOfBirthsDeathsAndQuestionsIsAnsweredAsByAnOrderedMap) {
  std::mt19937_64 random(5);
  LivingBlocks living;
  std::map<uint64_t, BlockId> expected;
  for (BlockId id = 0; id < 50'000; ++id) {
    const uint64_t address = random() % 2000;
    if (expected.erase(address) > 0) {
      living.Erase(address);
    } else if (random() % 2000 < 1000 + id / 50) {
      expected.emplace(address, id);
      living.Insert(address, id);
    }
    ASSERT_EQ(living.At(address).has_value(), expected.contains(address));
    if (random() % 50 != 0) continue;
    const uint64_t asked = random() % 2000;
    const auto after = expected.upper_bound(asked);
    const auto nearest =
        after == expected.begin() ? std::nullopt : std::optional(std::prev(after)->second);
    ASSERT_EQ(living.AtOrBelow(asked), nearest);
  }
  std::vector<BlockId> in_order;
  in_order.reserve(expected.size());
  for (const auto& [address, id] : expected) in_order.push_back(id);
  EXPECT_EQ(living.InOrder(), in_order);
}

}  // namespace
}  // namespace memtrace::analysis
