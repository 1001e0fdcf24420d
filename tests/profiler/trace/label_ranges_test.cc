// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/label_ranges.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>

namespace memtrace::trace {
namespace {

// Returns the first 20 bytes as text: 'p' parameter, 'g' gradient, '.' no label.
std::string Picture(const LabelRanges& labels) {
  std::string picture(20, '.');
  std::vector<LabelledRange> ranges;
  labels.AppendTo(ranges, 0, picture.size());
  for (const LabelledRange& range : ranges) {
    for (uint64_t at = range.begin; at < range.end; ++at) {
      picture[at] = range.label.role == Role::kParameter ? 'p' : 'g';
    }
  }
  return picture;
}

TEST(LabelRangesTest, LatestLabelWinsInItsRange) {
  LabelRanges labels;
  labels.State(0, 10, {.role = Role::kParameter});
  labels.State(4, 6, {.role = Role::kGradient});
  EXPECT_EQ(Picture(labels), "ppppggpppp..........");
  labels.State(8, 15, {.role = Role::kGradient});
  EXPECT_EQ(Picture(labels), "ppppggppggggggg.....");
  labels.State(0, 20, {.role = Role::kParameter});
  EXPECT_EQ(Picture(labels), "pppppppppppppppppppp");
}

TEST(LabelRangesTest, LaterLabelFillsGapsBetweenEarlierOnes) {
  LabelRanges labels;
  labels.State(2, 4, {.role = Role::kParameter});
  labels.State(8, 10, {.role = Role::kParameter});
  labels.State(0, 12, {.role = Role::kGradient});
  EXPECT_EQ(Picture(labels), "gggggggggggg........");
}

TEST(LabelRangesTest, EmptyFieldKeepsTheEarlierValue) {
  LabelRanges labels;
  labels.State(0, 4, {.role = Role::kParameter, .owner = 7, .path = 8});
  labels.State(0, 4, {.owner = 9});
  std::vector<LabelledRange> ranges;
  labels.AppendTo(ranges, 0, 4);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].label.role, Role::kParameter);
  EXPECT_EQ(ranges[0].label.owner, 9U);
  EXPECT_EQ(ranges[0].label.path, 8U);
}

TEST(LabelRangesTest, ForgettingARangeKeepsItsNeighbours) {
  LabelRanges labels;
  labels.State(0, 20, {.role = Role::kParameter});
  labels.Forget(5, 15);
  EXPECT_EQ(Picture(labels), "ppppp..........ppppp");
}

TEST(LabelRangesTest, RandomLabelsAgreeWithABytewiseModel) {
  std::mt19937 random(5);
  LabelRanges labels;
  std::string painted(20, '.');
  for (int i = 0; i < 2000; ++i) {
    uint64_t begin = random() % 21;
    uint64_t end = random() % 21;
    if (begin > end) std::swap(begin, end);
    constexpr std::array<char, 3> kPaint = {'p', 'g', '.'};
    const char paint = kPaint[random() % 3];
    if (paint == '.') {
      labels.Forget(begin, end);
    } else {
      labels.State(begin, end, {.role = paint == 'p' ? Role::kParameter : Role::kGradient});
    }
    for (uint64_t at = begin; at < end; ++at) painted[at] = paint;
    ASSERT_EQ(Picture(labels), painted) << "after statement " << i;
  }
}

}  // namespace
}  // namespace memtrace::trace
