// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/tools/analysis/packing_inputs.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;

// Replays the items in time, as address ranges: no two may overlap while both are alive.
void ExpectApart(const std::vector<PackingItem>& items, const std::vector<Bytes>& offsets) {
  struct Edge {
    uint64_t time;
    bool begins;
    size_t index;
  };
  std::vector<Edge> edges;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].size == 0 || items[i].begin >= items[i].end) continue;
    edges.push_back({items[i].begin, true, i});
    edges.push_back({items[i].end, false, i});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.time != b.time ? a.time < b.time : a.begins < b.begins;
  });
  std::map<Bytes, size_t> alive;  // by offset
  for (const auto& [time, begins, index] : edges) {
    if (!begins) {
      alive.erase(offsets[index]);
      continue;
    }
    const auto [at, is_new] = alive.emplace(offsets[index], index);
    ASSERT_TRUE(is_new) << "items " << index << " and " << at->second;
    if (at != alive.begin()) {
      const size_t below = std::prev(at)->second;
      ASSERT_LE(offsets[below] + items[below].size, offsets[index]) << below << " and " << index;
    }
    if (std::next(at) != alive.end()) {
      const size_t above = std::next(at)->second;
      ASSERT_LE(offsets[index] + items[index].size, offsets[above]) << index << " and " << above;
    }
  }
}

void ExpectSound(const std::vector<PackingItem>& items, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), items.size());
  ExpectApart(items, packing.offsets);
  Bytes height = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].begin < items[i].end) {
      height = std::max(height, packing.offsets[i] + items[i].size);
    }
  }
  EXPECT_EQ(packing.height, height);
  EXPECT_GE(packing.height, packing.lower_bound);
  EXPECT_TRUE(packing.is_optimal || packing.height > packing.lower_bound);
}

// Tests if the items fit into `height` by trying every order in which they can drop, from the
// lowest offset upwards: any packing can be dropped into one of these.
class EveryOrder {
 public:
  EveryOrder(const std::vector<PackingItem>& items, Bytes height)
      : items_(items), height_(height), tops_(items.size()) {}

  bool FitsAfter(size_t placed, Bytes floor) {
    if (placed == items_.size()) return true;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (tops_[i] != 0) continue;
      const Bytes offset = OffsetOf(i);
      if (offset < floor || offset + items_[i].size > height_) continue;
      tops_[i] = offset + items_[i].size;
      if (FitsAfter(placed + 1, offset)) return true;
      tops_[i] = 0;
    }
    return false;
  }

 private:
  Bytes OffsetOf(size_t index) const {
    Bytes offset = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      const bool together =
          items_[i].begin < items_[index].end && items_[index].begin < items_[i].end;
      if (together) offset = std::max(offset, tops_[i]);
    }
    return offset;
  }

  const std::vector<PackingItem>& items_;
  Bytes height_;
  std::vector<Bytes> tops_;  // 0: not placed
};

// Returns some dozen items that leave no byte free at any time: only among such sets are some that
// cannot be packed into the most bytes alive at one time.
std::vector<PackingItem> FullItems(std::mt19937_64& random, Bytes height, uint64_t times) {
  std::vector<Bytes> left(times, height);
  std::vector<PackingItem> items;
  for (uint64_t begin = 0; begin < times;) {
    if (left[begin] == 0) {
      ++begin;
      continue;
    }
    const uint64_t longest = begin + 1 + random() % times;
    const Bytes size = 1 + random() % std::min<Bytes>(left[begin], 3);
    uint64_t end = begin;
    for (; end < std::min(longest, times) && left[end] >= size; ++end) left[end] -= size;
    items.push_back({begin, end, size});
  }
  return items;
}

TEST(PackingTest, EmptyInputNeedsNoBytes) {
  const Packing packing = Pack({});
  EXPECT_EQ(packing.height, 0U);
  EXPECT_EQ(packing.lower_bound, 0U);
  EXPECT_TRUE(packing.is_optimal);
}

TEST(PackingTest, EmptyItemsDoNotConflict) {
  const std::vector<PackingItem> items = {{3, 3, 512}, {5, 4, 512}, {0, 9, 0}, {0, 9, 1024}};
  const Packing packing = Pack(items);
  EXPECT_THAT(packing.offsets, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(packing.height, 1024U);
}

TEST(PackingTest, ItemCanReuseThePlaceOfOneThatEndsAsItBegins) {
  const Packing packing = Pack(std::vector<PackingItem>{{0, 4, 512}, {4, 9, 512}});
  EXPECT_THAT(packing.offsets, ElementsAre(0, 0));
}

TEST(PackingTest, TimesSpanTheWholeRange) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  const Packing packing = Pack(std::vector<PackingItem>{{0, kLast, 512}, {kLast - 1, kLast, 1}});
  EXPECT_EQ(packing.height, 513U);
}

TEST(PackingTest, HugeItemsDoNotOverlap) {
  constexpr Bytes kHuge = Bytes{1} << 63;
  const std::vector<PackingItem> items = {{0, 4, kHuge - 1}, {3, 6, kHuge}, {5, 9, kHuge - 1}};
  const Packing packing = Pack(items);
  ExpectSound(items, packing);
  EXPECT_EQ(packing.height, std::numeric_limits<Bytes>::max());
  EXPECT_TRUE(packing.is_optimal);
}

TEST(PackingTest, HeightBeyondTheAddressSpaceSaturates) {
  constexpr Bytes kHuge = Bytes{1} << 63;
  const std::vector<PackingItem> items(5, {0, 4, kHuge});
  const Packing packing = Pack(items);
  EXPECT_EQ(packing.height, std::numeric_limits<Bytes>::max());
  EXPECT_EQ(packing.lower_bound, std::numeric_limits<Bytes>::max());
}

TEST(PackingTest, MiniMallocExampleIsPackedOptimally) {
  const std::vector<PackingItem> items = {{0, 3, 4}, {3, 9, 4}, {0, 9, 4}, {9, 21, 4}, {0, 21, 4}};
  const Packing packing = Pack(items);
  ExpectSound(items, packing);
  EXPECT_EQ(packing.height, 12U);
}

TEST(PackingTest, SmallInputsArePackedOptimally) {
  std::mt19937_64 random(1);
  int above_bound = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::vector<PackingItem> items = FullItems(random, 6, 8);
    const Packing packing = Pack(items);
    ExpectSound(items, packing);
    ASSERT_TRUE(packing.is_optimal) << "input " << i;
    if (packing.height == packing.lower_bound) continue;
    ++above_bound;
    ASSERT_FALSE(EveryOrder(items, packing.height - 1).FitsAfter(0, 0)) << "input " << i;
  }
  EXPECT_GT(above_bound, 0);
}

TEST(PackingTest, OptimalIsReportedOnlyForTheLowestHeight) {
  std::mt19937_64 random(1);
  int not_said = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::vector<PackingItem> items = FullItems(random, 6, 8);
    const Packing hurried = Pack(items, {.capacity = random() % 8, .steps = random() % 8192});
    ExpectSound(items, hurried);
    const Bytes lowest = Pack(items).height;
    ASSERT_GE(hurried.height, lowest);
    ASSERT_TRUE(!hurried.is_optimal || hurried.height == lowest) << "input " << i;
    not_said += hurried.is_optimal ? 0 : 1;
  }
  EXPECT_GT(not_said, 0);
}

TEST(PackingTest, RandomItemsDoNotOverlap) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const std::vector<PackingItem> items =
        RandomItems(random, 1 + random() % 200, 100, 1 + random() % 100, 64_KiB);
    ExpectSound(items, Pack(items, {.steps = 3'000'000}));
  }
}

TEST(PackingTest, OffsetsKeepTheUnitOfTheSizes) {
  std::mt19937_64 random(4);
  const std::vector<PackingItem> items = RandomItems(random, 300, 100, 50, 64_KiB);
  for (const Bytes offset : Pack(items, {.steps = 10'000'000}).offsets) {
    EXPECT_EQ(offset % 512, 0U);
  }
}

TEST(PackingTest, PackingIsDeterministic) {
  const std::vector<PackingItem> items = MiniMallocItems('G');
  const Packing packing = Pack(items);
  const Packing again = Pack(items);
  EXPECT_EQ(packing.offsets, again.offsets);
  EXPECT_EQ(packing.steps, again.steps);
}

TEST(PackingTest, ReachedCapacityEndsTheSearch) {
  const std::vector<PackingItem> items = MiniMallocItems('D');
  const Packing loose = Pack(items, {.capacity = 2_MiB});
  const Packing tight = Pack(items, {.capacity = kMiniMallocCapacity});
  EXPECT_LE(tight.height, kMiniMallocCapacity);
  EXPECT_LT(loose.steps, tight.steps);
}

TEST(PackingTest, StepLimitIsExceededAtMostByTheFirstPacking) {
  const std::vector<PackingItem> items = MiniMallocItems('D');
  EXPECT_LE(Pack(items, {.steps = 20'000'000}).steps, 20'000'000U);
  ExpectSound(items, Pack(items, {.steps = 0}));
}

class MiniMallocTest : public testing::TestWithParam<char> {};

TEST_P(MiniMallocTest, FitsIntoItsCapacity) {
  const std::vector<PackingItem> items = MiniMallocItems(GetParam());
  const Packing packing = Pack(items, {.capacity = kMiniMallocCapacity});
  ExpectSound(items, packing);
  EXPECT_LE(packing.height, kMiniMallocCapacity);
}

INSTANTIATE_TEST_SUITE_P(Instances, MiniMallocTest, testing::Range('A', 'L'),
                         [](const auto& instance) { return std::string(1, instance.param); });

TEST(PackingTest, LongTrainingIsPackedToTheLowerBound) {
  for (const bool vary : {false, true}) {
    const std::vector<PackingItem> items = TrainingItems(48, 60, vary);
    ASSERT_GT(items.size(), 100'000U);
    const Packing packing = Pack(items);
    ExpectSound(items, packing);
    EXPECT_EQ(packing.height, packing.lower_bound);
  }
}

// Thousands of items live at one time, without the order of a program.
TEST(PackingTest, ManyRandomItemsAreNearTheLowerBound) {
  std::mt19937_64 random(5);
  const std::vector<PackingItem> items = RandomItems(random, 100'000, 1'000'000, 80'000, 1_MiB);
  const Packing packing = Pack(items, {.steps = 0});
  ExpectSound(items, packing);
  EXPECT_LE(static_cast<double>(packing.height), 1.05 * static_cast<double>(packing.lower_bound));
}

}  // namespace
}  // namespace memtrace::analysis
