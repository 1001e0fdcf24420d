// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/living_blocks.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace memtrace::analysis {
namespace {

using Blocks = LivingBlocks<uint32_t>;

void Add(Blocks& living, uint64_t address, uint32_t block) {
  const auto [added, is_new] = living.TryAdd(address);
  ASSERT_TRUE(is_new);
  *added = block;
}

std::optional<uint32_t> AtOrBelow(Blocks& living, uint64_t address) {
  const Blocks::Entry entry = living.AtOrBelow(address);
  return entry.block == nullptr ? std::nullopt : std::optional(*entry.block);
}

void Remove(Blocks& living, uint64_t address) {
  EXPECT_TRUE(living.Remove(address, [](uint32_t /*block*/) {}));
}

TEST(LivingBlocksTest, InnerAddressFindsItsBlock) {
  Blocks living;
  Add(living, 1024, 7);
  Add(living, 512, 3);
  EXPECT_EQ(AtOrBelow(living, 600), 3U);
  EXPECT_EQ(AtOrBelow(living, 512), 3U);
  EXPECT_EQ(AtOrBelow(living, 5000), 7U);
  EXPECT_EQ(AtOrBelow(living, 511), std::nullopt);
}

TEST(LivingBlocksTest, TakenAddressIsNotAddedAgain) {
  Blocks living;
  Add(living, 512, 3);
  const auto [block, is_new] = living.TryAdd(512);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(*block, 3U);
}

TEST(LivingBlocksTest, RemovedBlockIsNotFound) {
  Blocks living;
  Add(living, 512, 3);
  Add(living, 1024, 7);
  EXPECT_EQ(AtOrBelow(living, 2000), 7U);
  Remove(living, 1024);
  EXPECT_EQ(living.At(1024), nullptr);
  EXPECT_FALSE(living.Remove(1024, [](uint32_t /*block*/) {}));
  EXPECT_EQ(AtOrBelow(living, 2000), 3U);
  Add(living, 1024, 9);
  EXPECT_EQ(AtOrBelow(living, 2000), 9U);
}

TEST(LivingBlocksTest, RangeListsBlocksThatBeginInIt) {
  Blocks living;
  for (uint32_t block = 1; block <= 9; ++block) Add(living, uint64_t{512} * block, block);
  Remove(living, 2048);
  std::vector<uint32_t> found;
  living.ForEachFrom(1536, 3072, [&](uint32_t block) { found.push_back(block); });
  EXPECT_EQ(found, (std::vector<uint32_t>{3, 5}));
}

// Compares with an ordered map, through every way that the order is kept or remade; at first
// without one.
TEST(LivingBlocksTest, RandomOperationsAgreeWithAnOrderedMap) {
  std::mt19937_64 random(5);
  Blocks living;
  std::map<uint64_t, uint32_t> expected;
  for (uint32_t block = 0; block < 50'000; ++block) {
    const uint64_t address = random() % 2000;
    if (expected.erase(address) > 0) {
      Remove(living, address);
    } else if (random() % 2000 < 1000 + block / 50) {
      expected.emplace(address, block);
      Add(living, address, block);
    }
    ASSERT_EQ(living.At(address) != nullptr, expected.contains(address));
    if (block < 1000 || random() % 50 != 0) continue;
    const uint64_t asked = random() % 2000;
    const auto after = expected.upper_bound(asked);
    const auto nearest =
        after == expected.begin() ? std::nullopt : std::optional(std::prev(after)->second);
    ASSERT_EQ(AtOrBelow(living, asked), nearest);
  }
  std::vector<uint32_t> in_order;
  in_order.reserve(expected.size());
  for (const auto& [address, block] : expected) in_order.push_back(block);
  std::vector<uint32_t> told;
  living.ForEachInOrder([&](uint32_t block) { told.push_back(block); });
  EXPECT_EQ(told, in_order);
  told.clear();
  living.ForEachFrom(0, 2000, [&](uint32_t block) { told.push_back(block); });
  EXPECT_EQ(told, in_order);
}

}  // namespace
}  // namespace memtrace::analysis
