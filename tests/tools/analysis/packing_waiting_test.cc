// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "tests/tools/analysis/packing_inputs.h"
#include "tools/analysis/packing/waiting.h"

namespace memtrace::analysis {
namespace {

std::optional<uint32_t> Scan(const std::vector<SectionItem>& items,
                             const std::vector<uint32_t>& ranks, const std::vector<bool>& removed,
                             Section first, Section last) {
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (removed[i] || items[i].first < first || items[i].last > last) continue;
    if (!found || ranks[i] < ranks[*found]) found = i;
  }
  return found;
}

TEST(WaitingItemsTest, AgreesWithALinearScan) {
  std::mt19937_64 random(7);
  for (const size_t count : {1U, 2U, 3U, 64U, 65U, 200U}) {
    const std::vector<SectionItem> items = ToSections(RandomItems(random, count, 300, 60, 512));
    std::vector<uint32_t> ranks(items.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::shuffle(ranks.begin(), ranks.end(), random);
    WaitingItems waiting(items, ranks);
    std::vector<bool> removed(items.size());
    for (size_t i = 0; i < 20 * count; ++i) {
      const auto first = static_cast<Section>(random() % count);
      const auto last = static_cast<Section>(first + 1 + random() % count);
      const std::optional<uint32_t> found = waiting.LowestRankWithin(first, last);
      ASSERT_EQ(found, Scan(items, ranks, removed, first, last));
      if (!found || i % 2 != 0) continue;
      waiting.Remove(*found);
      removed[*found] = true;
    }
  }
}

}  // namespace
}  // namespace memtrace::analysis
