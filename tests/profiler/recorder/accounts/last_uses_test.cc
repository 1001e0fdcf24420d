// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/last_uses.h"

#include <gtest/gtest.h>

#include <vector>

namespace memtrace::recorder {
namespace {

constexpr DeviceAddress kFirst{0x10'0000}, kSecond{0x20'0000};

PlacedBlock Block(DeviceAddress address, uint64_t birth) {
  return {address, {.requested = 64_KiB, .allocated = 64_KiB, .birth = birth}};
}

// Returns the uses of the blocks, which are in ascending order.
std::vector<BlockUse> UsesOf(const LastUses& uses, std::vector<PlacedBlock> blocks) {
  uses.SetIn(blocks);
  std::vector<BlockUse> found;
  found.reserve(blocks.size());
  for (const PlacedBlock& one : blocks) found.push_back(one.use);
  return found;
}

TEST(LastUsesTest, LatestUseOfAnyPlaceInABlockIsItsLast) {
  LastUses uses;
  uses.Note(kFirst, {.sequence = 5, .step = 1});
  uses.Note(kFirst + 512, {.sequence = 9, .step = 2});
  uses.Note(kFirst, {.sequence = 7, .step = 1});
  const std::vector<BlockUse> found = UsesOf(uses, {Block(kSecond, 1), Block(kFirst, 1)});
  EXPECT_EQ(found[0].sequence, 9U);
  EXPECT_EQ(found[0].step, 2U);
  EXPECT_EQ(found[1].sequence, 0U) << "nothing used the second block";
}

TEST(LastUsesTest, UseOfAnEarlierBlockAtTheAddressDoesNotCount) {
  LastUses uses;
  uses.Note(kFirst, {.sequence = 5, .step = 1, .is_captured = true});
  EXPECT_EQ(UsesOf(uses, {Block(kFirst, 6)})[0].sequence, 0U);
  EXPECT_FALSE(UsesOf(uses, {Block(kFirst, 6)})[0].is_captured);
  uses.Note(kFirst, {.sequence = 8, .step = 3});
  EXPECT_EQ(UsesOf(uses, {Block(kFirst, 6)})[0].step, 3U);
  EXPECT_FALSE(UsesOf(uses, {Block(kFirst, 6)})[0].is_captured);
}

TEST(LastUsesTest, BlockOfACapturedGraphStaysOne) {
  LastUses uses;
  uses.Note(kFirst, {.sequence = 5, .step = 1, .is_captured = true});
  uses.Note(kFirst, {.sequence = 8, .step = 3});
  const BlockUse use = UsesOf(uses, {Block(kFirst, 2)})[0];
  EXPECT_TRUE(use.is_captured);
  EXPECT_EQ(use.sequence, 8U);
  uses.KeepOnly({Block(kFirst, 2)});
  EXPECT_TRUE(UsesOf(uses, {Block(kFirst, 2)})[0].is_captured);
}

TEST(LastUsesTest, ItIsFullOnceAndKeepsOnlyWhatIsInUse) {
  LastUses uses;
  for (uint64_t i = 0; !uses.is_full(); ++i)
    uses.Note(DeviceAddress{0x100'0000 + i * 64_KiB}, {.sequence = 5, .step = 1});
  EXPECT_EQ(uses.size(), LastUses::kFewest);
  uses.Note(kFirst + 512, {.sequence = 7, .step = 2});
  uses.Note(kFirst + 1024, {.sequence = 6, .step = 1});
  uses.KeepOnly({Block(kSecond, 1), Block(kFirst, 1)});
  EXPECT_EQ(uses.size(), 1U);
  EXPECT_FALSE(uses.is_full());
  EXPECT_EQ(UsesOf(uses, {Block(kFirst, 1)})[0].sequence, 7U);
}

}  // namespace
}  // namespace memtrace::recorder
