// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/stack_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace memtrace::recorder {
namespace {

TEST(StackIndexTest, FirstIdOfAHashIsKept) {
  StackIndex index;
  EXPECT_EQ(index.Find(5), 0U);
  index.Insert(5, 1);
  index.Insert(5, 2);
  EXPECT_EQ(index.Find(5), 1U);
  EXPECT_EQ(index.size(), 1U);
}

// Hashes that differ only in their upper bits have the same slot in any table.
TEST(StackIndexTest, CollidingHashesAreDistinguished) {
  StackIndex index;
  for (uint64_t i = 1; i <= 100; ++i) index.Insert(i << 40 | 0xfff, static_cast<uint32_t>(i));
  for (uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(index.Find(i << 40 | 0xfff), i);
  EXPECT_EQ(index.Find(uint64_t{101} << 40 | 0xfff), 0U);
}

TEST(StackIndexTest, StacksAreFoundWhileTheTableGrows) {
  constexpr uint64_t kStacks = 50'000;  // the first table has 4,096 places
  StackIndex index;
  std::atomic<uint64_t> inserted = 0;
  std::atomic<bool> is_reading = false;
  std::thread reader([&] {
    is_reading = true;
    for (uint64_t i = 0; inserted < kStacks; i = (i + 7919) % kStacks) {
      const uint64_t known = inserted;
      const trace::StackId found = index.Find((i + 1) * 0x9e3779b97f4a7c15);
      if (i < known) {
        ASSERT_EQ(found, i + 1);
      } else {
        ASSERT_TRUE(found == 0 || found == i + 1) << found;
      }
    }
  });
  while (!is_reading) std::this_thread::yield();
  for (uint64_t i = 0; i < kStacks; ++i) {
    index.Insert((i + 1) * 0x9e3779b97f4a7c15, static_cast<uint32_t>(i + 1));
    inserted = i + 1;
  }
  reader.join();
  EXPECT_EQ(index.size(), kStacks);
  for (uint64_t i = 0; i < kStacks; ++i) {
    ASSERT_EQ(index.Find((i + 1) * 0x9e3779b97f4a7c15), i + 1);
  }
}

}  // namespace
}  // namespace memtrace::recorder
