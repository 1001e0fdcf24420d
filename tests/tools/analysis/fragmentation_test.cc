// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Which blocks keep free memory from the driver, and how large the holes are (segment_map_test
// tests which free memory that is).
#include "tools/analysis/holders/fragmentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "tests/tools/analysis/named_program.h"
#include "tools/analysis/explanation.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PinsOfSegmentsTest : public testing::Test {
 protected:
  void Map(uint64_t address, uint64_t size) { program_.Add(trace::Map{0, address, size, 0}); }
  void Reserve(uint64_t address, uint64_t size) {
    program_.Add(trace::Reserve{0, address, size, 0});
  }
  // Allocates a block in line `line` of train.py.
  void Allocate(uint64_t address, uint64_t bytes, trace::StackId line, uint32_t pool = 0) {
    program_.Allocate(
        trace::Allocate{.address = address, .requested = bytes, .pool = pool, .stack = line});
  }
  Fragmentation Measured() {
    program_.Fail(1_GiB);
    return Explain(program_)->layout.fragmentation;
  }
  // Returns a line for each pin, most stranded bytes first: "train.py:1 strands 4096, 2 blocks".
  static std::vector<std::string> PinsOf(const Fragmentation& fragmentation) {
    std::vector<std::string> lines;
    lines.reserve(fragmentation.pins.size());
    for (const Pin& pin : fragmentation.pins)
      lines.push_back(
          absl::StrCat(pin.site, " strands ", pin.strands, ", ", pin.blocks, " blocks"));
    return lines;
  }

  NamedProgram program_;
};

TEST_F(PinsOfSegmentsTest, BlocksOfASegmentStrandItsFreeMemoryInEqualShares) {
  Map(0, 20_MiB);
  Allocate(0, 2_MiB, 1);
  Allocate(10_MiB, 6_MiB, 2);
  EXPECT_THAT(PinsOf(Measured()),
              ElementsAre(absl::StrCat("train.py:1 strands ", 6_MiB, ", 1 blocks"),
                          absl::StrCat("train.py:2 strands ", 6_MiB, ", 1 blocks")));
}

TEST_F(PinsOfSegmentsTest, BytesThatCannotBeSharedEquallyAreNotLost) {
  Map(0, 1028);
  for (const uint64_t address : {0u, 128u, 256u}) Allocate(address, 128, 1);
  const Fragmentation fragmentation = Measured();
  EXPECT_EQ(fragmentation.stranded(), 644u);  // not a multiple of 3
  EXPECT_THAT(PinsOf(fragmentation), ElementsAre("train.py:1 strands 644, 3 blocks"));
}

TEST_F(PinsOfSegmentsTest, BlockInAPageStrandsThatPageAlone) {
  Reserve(0, 1_GiB);
  Map(0, 20_MiB);
  Allocate(6_MiB, 512, 1);
  const Fragmentation fragmentation = Measured();
  EXPECT_THAT(PinsOf(fragmentation),
              ElementsAre(absl::StrCat("train.py:1 strands ", 2_MiB - 512, ", 1 blocks")));
  EXPECT_EQ(fragmentation.releasable, 18_MiB);
}

TEST_F(PinsOfSegmentsTest, BlockThatFillsItsPagesStrandsNothing) {
  Reserve(0, 1_GiB);
  Map(0, 20_MiB);
  Allocate(6_MiB, 4_MiB, 1);
  const Fragmentation fragmentation = Measured();
  EXPECT_THAT(PinsOf(fragmentation), IsEmpty());
  EXPECT_EQ(fragmentation.releasable, 16_MiB);
}

TEST_F(PinsOfSegmentsTest, FreeMemoryOfAPrivatePoolHasNoPins) {
  Map(0, 20_MiB);
  Allocate(0, 2_MiB, 1, /*pool=*/7);
  const Fragmentation fragmentation = Measured();
  EXPECT_THAT(PinsOf(fragmentation), IsEmpty());
  EXPECT_EQ(fragmentation.private_pools, 18_MiB);
  EXPECT_EQ(fragmentation.largest_hole, 0u);
}

TEST_F(PinsOfSegmentsTest, HolesAreCountedBySize) {
  Map(0, 40_MiB);
  Allocate(512, 512, 1);        // a hole of 512 bytes before it
  Allocate(1_MiB, 1_MiB, 1);    // one of 1 MiB less 1 KiB before it
  Allocate(24_MiB, 16_MiB, 1);  // one of 22 MiB before it
  std::vector<uint64_t> counts;
  for (const HolesOfSize& size : Measured().by_size) counts.push_back(size.holes);
  EXPECT_THAT(counts, ElementsAre(1, 0, 1, 0, 1, 0));
}

}  // namespace
}  // namespace memtrace::analysis
