// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/tally.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace memtrace {
namespace {

void ExpectSame(const StatisticByPool& tally, const StatisticByPool& model) {
  const auto expect = [](const Statistic& a, const Statistic& b) {
    EXPECT_EQ(a.current, b.current);
    EXPECT_EQ(a.peak, b.peak);
    EXPECT_EQ(a.allocated, b.allocated);
    EXPECT_EQ(a.freed, b.freed);
  };
  expect(tally.all, model.all);
  expect(tally.small_pool, model.small_pool);
  expect(tally.large_pool, model.large_pool);
}

// The eight numbers that torch counts, one by one.
class Model {
 public:
  void Allocated(bool small, int64_t amount) {
    in_use_.Add(small, amount);
    active_.Add(small, amount);
  }
  void Freed(bool small, int64_t amount) {
    in_use_.Add(small, -amount);
    active_.Add(small, -amount);
  }
  void Waits(bool small, int64_t amount) { in_use_.Add(small, -amount); }
  void Waited(bool small, int64_t amount) { active_.Add(small, -amount); }
  void ResetPeak() {
    for (StatisticByPool* by_pool : {&in_use_, &active_}) {
      for (Statistic* one : {&by_pool->all, &by_pool->small_pool, &by_pool->large_pool})
        one->ResetPeak();
    }
  }
  void ResetAccumulated() {
    for (StatisticByPool* by_pool : {&in_use_, &active_}) {
      for (Statistic* one : {&by_pool->all, &by_pool->small_pool, &by_pool->large_pool})
        one->ResetAccumulated();
    }
  }

  StatisticByPool in_use_, active_;
};

struct Block {
  bool small;
  int64_t amount;
};

TEST(TallyTest, IsWhatTorchCountsOneByOne) {
  std::mt19937 random(1);
  Tally tally;
  Model model;
  std::vector<Block> used;
  std::vector<Block> waiting;
  const auto take = [&](std::vector<Block>& from) {
    std::swap(from[random() % from.size()], from.back());
    const Block block = from.back();
    from.pop_back();
    return block;
  };
  for (int i = 0; i < 20000; ++i) {
    const auto what = random() % 100;
    if (what < 45 || used.empty()) {
      const Block block{random() % 2 == 0, static_cast<int64_t>(random() % 1000)};
      tally.Allocated(block.small, block.amount);
      model.Allocated(block.small, block.amount);
      used.push_back(block);
    } else if (what < 80) {
      const Block block = take(used);
      tally.Freed(block.small, block.amount);
      model.Freed(block.small, block.amount);
    } else if (what < 90) {
      const Block block = take(used);
      tally.Waits(block.small, block.amount);
      model.Waits(block.small, block.amount);
      waiting.push_back(block);
    } else if (what < 98 && !waiting.empty()) {
      const Block block = take(waiting);
      tally.Waited(block.small, block.amount);
      model.Waited(block.small, block.amount);
    } else if (what == 98) {
      tally.ResetPeak();
      model.ResetPeak();
    } else if (what == 99) {
      tally.ResetAccumulated();
      model.ResetAccumulated();
    }
    ExpectSame(tally.InUse(), model.in_use_);
    ExpectSame(tally.Active(), model.active_);
    if (HasFailure()) FAIL() << "after " << i;
  }
}

}  // namespace
}  // namespace memtrace
