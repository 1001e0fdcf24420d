// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/guessed_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::interchange {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class GuessedSegmentsTest : public testing::Test {
 protected:
  // Returns the segments' changes for one event of a block, as lines "map 100+20".
  std::vector<std::string> Allocate(uint64_t address, uint64_t bytes, uint64_t reserved) {
    said_.clear();
    segments_.Allocate(address, bytes, reserved, visit_);
    return said_;
  }
  std::vector<std::string> Free(uint64_t address, uint64_t reserved) {
    said_.clear();
    segments_.Free(address, reserved, visit_);
    return said_;
  }

 private:
  static std::string Range(uint64_t address, uint64_t size) {
    const bool far = address >= uint64_t{1} << 60;
    return (far ? "far" : std::to_string(address)) + "+" + std::to_string(size);
  }

  GuessedSegments segments_{0};
  std::vector<std::string> said_;
  const GuessedSegments::Visit visit_ = [this](const trace::Payload& payload) {
    if (const auto* map = std::get_if<trace::Map>(&payload))
      said_.push_back("map " + Range(map->address, map->size));
    if (const auto* unmap = std::get_if<trace::Unmap>(&payload))
      said_.push_back("unmap " + Range(unmap->address, unmap->size));
  };
};

TEST_F(GuessedSegmentsTest, SegmentBeginsAtItsFirstBlock) {
  EXPECT_THAT(Allocate(1000, 10, 200), ElementsAre("map 1000+200"));
  EXPECT_THAT(Allocate(1010, 10, 200), IsEmpty());
}

TEST_F(GuessedSegmentsTest, BlockBeyondTheEndGrowsTheSegment) {
  Allocate(1000, 10, 200);
  EXPECT_THAT(Allocate(1100, 150, 300), ElementsAre("map 1200+100"));
}

TEST_F(GuessedSegmentsTest, MemoryWithoutAPlaceIsMappedFarAway) {
  Allocate(1000, 10, 200);
  Allocate(5000, 10, 300);
  EXPECT_THAT(Allocate(900, 10, 600), ElementsAre("map far+300"));
  EXPECT_THAT(Free(900, 550), ElementsAre("unmap far+50"));
}

TEST_F(GuessedSegmentsTest, EmptySegmentsAreReleasedFirst) {
  Allocate(1000, 10, 200);
  Allocate(5000, 10, 300);
  Free(5000, 300);
  EXPECT_THAT(Free(77, 200), ElementsAre("unmap 5000+100"));
}

TEST_F(GuessedSegmentsTest, SumIsRightEvenIfBlocksRemain) {
  Allocate(1000, 10, 200);
  EXPECT_THAT(Free(77, 150), ElementsAre("unmap 1150+50"));
}

}  // namespace
}  // namespace memtrace::interchange
