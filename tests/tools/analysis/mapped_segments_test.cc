// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/mapped_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MappedSegmentsTest : public testing::Test {
 protected:
  std::vector<std::string> Apply(const trace::Payload& payload) {
    std::vector<std::string> ended;
    segments_.Apply({++sequence_, 0, payload},
                    [&ended](const MappedSegment& segment) { ended.push_back(Text(segment)); });
    return ended;
  }
  std::vector<std::string> Left(bool joined) const {
    std::vector<std::string> left;
    segments_.ForEach(joined,
                      [&left](const MappedSegment& segment) { left.push_back(Text(segment)); });
    return left;
  }

 private:
  static std::string Text(const MappedSegment& segment) {
    return std::to_string(segment.address) + "+" + std::to_string(segment.size) +
           (segment.expandable ? "e" : "");
  }

  MappedSegments segments_;
  uint64_t sequence_ = 0;
};

TEST_F(MappedSegmentsTest, NeighboursInAReservedRangeAreJoined) {
  Apply(trace::Reserve{.device = 0, .address = 100, .size = 100});
  Apply(trace::Map{.device = 0, .address = 100, .size = 20});
  Apply(trace::Map{.device = 0, .address = 120, .size = 20});
  Apply(trace::Map{.device = 0, .address = 160, .size = 20});
  Apply(trace::Map{.device = 0, .address = 300, .size = 20});
  Apply(trace::Map{.device = 0, .address = 320, .size = 20});
  EXPECT_THAT(Left(true), ElementsAre("100+40e", "160+20e", "300+20", "320+20"));
  EXPECT_THAT(Left(false), ElementsAre("100+20e", "120+20e", "160+20e", "300+20", "320+20"));
}

TEST_F(MappedSegmentsTest, SegmentAtTheLastAddressIsIgnored) {
  Apply(trace::Map{.device = 0, .address = ~uint64_t{0}, .size = 2 << 20});
  Apply(trace::Map{.device = 0, .address = ~uint64_t{0} - 10, .size = 2 << 20});
  EXPECT_THAT(Left(true), ElementsAre("18446744073709551605+10"));
}

TEST_F(MappedSegmentsTest, UnmappingAPartKeepsTheRest) {
  Apply(trace::Map{.device = 0, .address = 100, .size = 100});
  EXPECT_THAT(Apply(trace::Unmap{.device = 0, .address = 120, .size = 30}), ElementsAre("120+30"));
  EXPECT_THAT(Left(true), ElementsAre("100+20", "150+50"));
  EXPECT_THAT(Apply(trace::Unmap{.device = 0, .address = 110, .size = 1000}),
              ElementsAre("110+10", "150+50"));
  EXPECT_THAT(Left(true), ElementsAre("100+10"));
}

TEST_F(MappedSegmentsTest, UnmapLeavesOtherCardsAndHandlesHugeSizes) {
  Apply(trace::Map{.device = 0, .address = 100, .size = 100});
  EXPECT_THAT(Apply(trace::Unmap{.device = 1, .address = 0, .size = ~uint64_t{0}}), IsEmpty());
  EXPECT_THAT(Apply(trace::Unmap{.device = 0, .address = 150, .size = ~uint64_t{0}}),
              ElementsAre("150+50"));
}

TEST_F(MappedSegmentsTest, MappingTwiceEndsTheFirst) {
  Apply(trace::Map{.device = 0, .address = 100, .size = 100});
  EXPECT_THAT(Apply(trace::Map{.device = 0, .address = 150, .size = 100}), ElementsAre("150+50"));
  EXPECT_THAT(Left(true), ElementsAre("100+50", "150+100"));
}

}  // namespace
}  // namespace memtrace::analysis
