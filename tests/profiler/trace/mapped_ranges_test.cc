// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/mapped_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace memtrace::trace {
namespace {

std::string Picture(const MappedRanges& mapped) {
  std::string picture(16, '.');
  mapped.ForEach([&picture](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) picture[at] = 'x';
  });
  return picture;
}

TEST(MappedRangesTest, NeighboursAreJoined) {
  MappedRanges mapped;
  mapped.Map(0, 4);
  mapped.Map(8, 4);
  mapped.Map(4, 4);
  int ranges = 0;
  mapped.ForEach([&ranges](uint64_t, uint64_t) { ++ranges; });
  EXPECT_EQ(ranges, 1);
  EXPECT_EQ(mapped.bytes(), 12U);
}

TEST(MappedRangesTest, MostBytesAreThoseOfTheFullestMoment) {
  MappedRanges mapped;
  mapped.Map(0, 4);
  mapped.Map(8, 4);
  mapped.Map(8, 4);  // again, after lost events
  mapped.Unmap(0, 12);
  mapped.Map(0, 2);
  EXPECT_EQ(mapped.bytes(), 2U);
  EXPECT_EQ(mapped.most_bytes(), 8U);
}

TEST(MappedRangesTest, ContainsExcludesTheEndAddress) {
  MappedRanges mapped;
  mapped.Map(4, 4);
  mapped.Map(10, 2);
  std::string picture(16, '.');
  for (uint64_t at = 0; at < 16; ++at) picture[at] = mapped.Contains(at) ? 'x' : '.';
  EXPECT_EQ(picture, Picture(mapped));
}

TEST(MappedRangesTest, UnmappingTheMiddleKeepsBothEnds) {
  MappedRanges mapped;
  mapped.Map(0, 16);
  mapped.Unmap(4, 8);
  EXPECT_EQ(Picture(mapped), "xxxx........xxxx");
  EXPECT_EQ(mapped.bytes(), 8U);
}

TEST(MappedRangesTest, WrappingRangeIsIgnored) {
  MappedRanges mapped;
  mapped.Map(~uint64_t{0} - 3, 16);
  EXPECT_EQ(mapped.bytes(), 0U);
}

TEST(MappedRangesTest, RandomMapsAgreeWithABytewiseModel) {
  std::mt19937 random(7);
  MappedRanges mapped;
  std::string painted(16, '.');
  for (int i = 0; i < 2000; ++i) {
    const uint64_t begin = random() % 16;
    const uint64_t size = random() % (17 - begin);
    const bool map = random() % 2 == 0;
    if (map) {
      mapped.Map(begin, size);
    } else {
      mapped.Unmap(begin, size);
    }
    for (uint64_t at = begin; at < begin + size; ++at) painted[at] = map ? 'x' : '.';
    ASSERT_EQ(Picture(mapped), painted) << "after step " << i;
    ASSERT_EQ(mapped.bytes(),
              static_cast<uint64_t>(std::count(painted.begin(), painted.end(), 'x')));
  }
}

}  // namespace
}  // namespace memtrace::trace
