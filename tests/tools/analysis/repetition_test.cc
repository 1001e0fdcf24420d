// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/repetition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace memtrace::analysis {
namespace {

// Letters are sizes; each block lives until `life` more are requested after the next.
std::vector<RequestedBlock> Blocks(std::string_view letters, size_t life = 0) {
  std::vector<RequestedBlock> blocks;
  for (const char letter : letters) {
    if (letter == ' ') continue;
    blocks.push_back({2_MiB * static_cast<Bytes>(letter), blocks.size() + 1 + life});
  }
  for (RequestedBlock& block : blocks) {
    if (block.death > blocks.size()) block.death = RequestedBlock::kNever;
  }
  return blocks;
}

// Returns "begin..end by period".
std::string Found(const std::vector<RequestedBlock>& blocks) {
  const Repetition found = FindRepetition(blocks);
  if (found.period == 0) return "nothing";
  return std::to_string(found.begin) + ".." + std::to_string(found.end) + " by " +
         std::to_string(found.period);
}

TEST(RepetitionTest, StepsAfterAPrologueAreFound) {
  EXPECT_EQ(Found(Blocks("xyz abcde abcde abcde")), "3..18 by 5");
}

TEST(RepetitionTest, TwoStepsAreEnough) {
  EXPECT_EQ(Found(Blocks("xyz abcde abcde")), "3..13 by 5");
}

TEST(RepetitionTest, StepsAreFoundBeforeATail) {
  EXPECT_EQ(Found(Blocks("xy abcde abcde abcde abQRSTU")), "2..19 by 5");
}

TEST(RepetitionTest, SmallestPeriodCounts) {
  EXPECT_EQ(Found(Blocks("abab abab abab abab")), "0..16 by 2");
}

TEST(RepetitionTest, EqualLayersAreNotMistakenForSteps) {
  EXPECT_EQ(Found(Blocks("xy abababab c abababab c abababab c")), "2..29 by 9");
}

TEST(RepetitionTest, StepsOfOneSizeAreAPeriodOfOne) {
  EXPECT_EQ(Found(Blocks("aaaaaaaa")), "0..8 by 1");
}

TEST(RepetitionTest, InputWithoutRepetitionHasNoSteps) {
  EXPECT_EQ(Found(Blocks("abcdefghijkl")), "nothing");
  EXPECT_EQ(Found({}), "nothing");
  EXPECT_EQ(Found(Blocks("a")), "nothing");
}

TEST(RepetitionTest, ShortRepetitionIsNotAStep) {
  EXPECT_EQ(Found(Blocks("abcdefghij xx klmnopqrstu")), "nothing");
}

// The layers of a forward pass do this: their blocks wait for the backward pass.
TEST(RepetitionTest, AccumulatingBlocksAreNotSteps) {
  EXPECT_EQ(Found(Blocks("abc abc abc abc abc abc abc abc", 1000)), "nothing");
}

TEST(RepetitionTest, BlocksThatLiveForOneOrTwoStepsAreSteps) {
  EXPECT_EQ(Found(Blocks("abc abc abc abc abc abc abc abc", 7)), "0..24 by 3");
}

TEST(RepetitionTest, DifferingFirstStepsAreExcluded) {
  EXPECT_EQ(Found(Blocks("xy abcdSe abcde abcde abcde")), "7..23 by 5");
}

}  // namespace
}  // namespace memtrace::analysis
