// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/tools/analysis/packing_inputs.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;

// Returns each item as the sections in which it is alive.
std::vector<std::string> Pictures(const std::vector<SectionItem>& items) {
  std::vector<std::string> pictures;
  pictures.reserve(items.size());
  for (const SectionItem& item : items) {
    pictures.push_back(std::string(item.first, '.') + std::string(item.last - item.first, 'x'));
  }
  return pictures;
}

TEST(PackingSectionsTest, OnlyLocalPeaksAreSections) {
  const std::vector<PackingItem> nested = {{0, 9, 1}, {1, 8, 1}, {2, 7, 1}};
  EXPECT_THAT(Pictures(ToSections(nested)), ElementsAre("x", "x", "x"));
  const std::vector<PackingItem> stairs = {{0, 4, 1}, {2, 6, 1}, {4, 9, 1}};
  EXPECT_THAT(Pictures(ToSections(stairs)), ElementsAre("x", "xx", ".x"));
}

TEST(PackingSectionsTest, ItemsShareASectionIfAndOnlyIfTheyAreAliveTogether) {
  std::mt19937_64 random(6);
  const std::vector<PackingItem> items = RandomItems(random, 200, 100, 20, 512);
  const std::vector<SectionItem> sections = ToSections(items);
  ASSERT_EQ(sections.size(), items.size());
  for (size_t a = 0; a < items.size(); ++a) {
    for (size_t b = 0; b < items.size(); ++b) {
      const bool together = items[a].begin < items[b].end && items[b].begin < items[a].end;
      const bool share =
          sections[a].first < sections[b].last && sections[b].first < sections[a].last;
      ASSERT_EQ(share, together) << a << " and " << b;
    }
  }
}

TEST(PackingSectionsTest, LoadBeyondTheAddressSpaceSaturates) {
  const std::vector<PackingItem> items(3, {0, 1, Bytes{1} << 63});
  EXPECT_EQ(HighestLoad(ToSections(items)), ~Bytes{0});
}

TEST(PackingSectionsTest, GroupsAreSplitWhereNothingIsAlive) {
  const std::vector<PackingItem> items = {{8, 9, 1}, {0, 4, 1}, {2, 6, 1}, {3, 5, 1}, {6, 8, 1}};
  const std::vector<std::vector<SectionItem>> groups = SplitAtCuts(ToSections(items));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(Pictures(groups[0]), ElementsAre("x", "x", "x"));
  EXPECT_THAT(Pictures(groups[1]), ElementsAre("x"));
  EXPECT_EQ(groups[1][0].id, 4U);
  EXPECT_EQ(groups[2][0].id, 0U);
}

}  // namespace
}  // namespace memtrace::analysis
