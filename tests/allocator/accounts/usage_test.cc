// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounts/usage.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace memtrace {
namespace {

void ExpectSame(const StatisticByPool& usage, const StatisticByPool& model) {
  const auto expect = [](const Statistic& a, const Statistic& b) {
    EXPECT_EQ(a.current, b.current);
    EXPECT_EQ(a.peak, b.peak);
    EXPECT_EQ(a.allocated, b.allocated);
    EXPECT_EQ(a.freed, b.freed);
  };
  expect(usage.all, model.all);
  expect(usage.small_pool, model.small_pool);
  expect(usage.large_pool, model.large_pool);
}

// Counts torch's numbers one by one.
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

struct UsedBlock {
  size_t share;
  bool small;
  int64_t amount;
};

// Uses several shares, which count alone as long as they have room.
TEST(UsageTest, SharesSumToASingleCounter) {
  std::mt19937 random(1);
  Usage usage;
  std::deque<UsageShare> shares;
  for (int i = 0; i < 3; ++i) usage.Add(shares.emplace_back());
  Model model;
  int alone = 0;
  std::vector<UsedBlock> used;
  std::vector<UsedBlock> waiting;
  const auto take = [&](std::vector<UsedBlock>& from) {
    std::swap(from[random() % from.size()], from.back());
    const UsedBlock block = from.back();
    from.pop_back();
    return block;
  };
  for (int i = 0; i < 20000; ++i) {
    const auto what = random() % 100;
    // Sometimes everything is freed, so that there is room below the peaks.
    const unsigned allocations = i / 500 % 4 == 0 ? 20 : 48;
    if (what < allocations || used.empty()) {
      const UsedBlock block{random() % shares.size(), random() % 2 == 0,
                            static_cast<int64_t>(random() % 1000)};
      const Amounts amounts{1, block.amount, block.amount};
      if (shares[block.share].HasRoomFor(block.small, amounts)) {
        ++alone;
      } else {
        usage.MakeRoom(shares[block.share], block.small, amounts);
      }
      ASSERT_TRUE(shares[block.share].HasRoomFor(block.small, amounts));
      shares[block.share].Allocated(block.small, amounts);
      model.Allocated(block.small, block.amount);
      used.push_back(block);
    } else if (what < 80) {
      const UsedBlock block = take(used);
      shares[block.share].Freed(block.small, {1, block.amount, block.amount});
      model.Freed(block.small, block.amount);
    } else if (what < 90) {
      const UsedBlock block = take(used);
      usage.Waits(shares[block.share], block.small, {1, block.amount, block.amount});
      model.Waits(block.small, block.amount);
      waiting.push_back(block);
    } else if (what < 98 && !waiting.empty()) {
      const UsedBlock block = take(waiting);
      usage.Waited(block.small, {1, block.amount, block.amount});
      model.Waited(block.small, block.amount);
    } else if (what == 98 && random() % 10 == 0) {
      usage.ResetPeak();
      model.ResetPeak();
    } else if (what == 99) {
      usage.ResetAccumulated();
      model.ResetAccumulated();
    }
    ExpectSame(usage.InUseByPool(kBytes), model.in_use_);
    ExpectSame(usage.ActiveByPool(kBytes), model.active_);
    ExpectSame(usage.ActiveByPool(kRequested), model.active_);
    if (HasFailure()) FAIL() << "after " << i;
  }
  EXPECT_GT(alone, 1000);
}

TEST(UsageTest, ImpossibleAmountsDoNotOverflow) {
  Usage usage;
  UsageShare share;
  usage.Add(share);
  usage.MakeRoom(share, /*small=*/false, AmountsOf(100, 100));
  EXPECT_TRUE(share.HasRoomFor(/*small=*/false, AmountsOf(100, 100)));
  EXPECT_FALSE(share.HasRoomFor(/*small=*/false, AmountsOf(101, 100)));
  EXPECT_FALSE(share.HasRoomFor(/*small=*/false, AmountsOf(Bytes{1} << 63, 100)));
  EXPECT_FALSE(share.HasRoomFor(/*small=*/false, AmountsOf((Bytes{1} << 63) - 1, 100)));
  static_cast<void>(share.HasRoomFor(/*small=*/false, AmountsOf(~Bytes{0}, ~Bytes{0})));
}

TEST(UsageTest, SingleShareHasRoomUpToItsEarlierPeak) {
  Usage usage;
  UsageShare share;
  usage.Add(share);
  const Amounts amounts{1, 512, 100};
  EXPECT_FALSE(share.HasRoomFor(true, amounts));
  usage.MakeRoom(share, true, amounts);
  share.Allocated(true, amounts);
  share.Freed(true, amounts);
  EXPECT_TRUE(share.HasRoomFor(true, amounts));
  EXPECT_FALSE(share.HasRoomFor(false, amounts));  // never a large one
  EXPECT_FALSE(share.HasRoomFor(true, {1, 1024, 100}));
  EXPECT_EQ(usage.InUseByPool(kBytes).all.peak, 512);
}

}  // namespace
}  // namespace memtrace
