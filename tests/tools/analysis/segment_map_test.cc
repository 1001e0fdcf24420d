// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/segment_map.h"

#include <gtest/gtest.h>

#include "base/units.h"
#include "tests/tools/analysis/named_program.h"
#include "tools/analysis/explanation.h"

namespace memtrace::analysis {
namespace {

constexpr uint32_t kPool = 7;

class SegmentMapTest : public testing::Test {
 protected:
  void Map(uint64_t address, uint64_t size) { program_.Add(trace::Map{0, address, size, 0}); }
  void Reserve(uint64_t address, uint64_t size) {
    program_.Add(trace::Reserve{0, address, size, 0});
  }
  void Allocate(uint64_t address, uint64_t bytes, uint32_t pool = 0) {
    program_.Allocate(trace::Allocate{.address = address, .requested = bytes, .pool = pool});
  }
  // The ledger when a request fails now; the section about free memory must say the same.
  Ledger Failed() {
    program_.Fail(1_GiB);
    const Explanation explanation = *Explain(program_);
    const Ledger& ledger = explanation.cards[0].ledger;
    const Fragmentation& fragmentation = explanation.layout.fragmentation;
    EXPECT_EQ(ledger.positive(LedgerPart::kCached), fragmentation.releasable);
    EXPECT_EQ(ledger.positive(LedgerPart::kHoles), fragmentation.stranded());
    EXPECT_EQ(ledger.positive(LedgerPart::kPrivatePools), fragmentation.private_pools);
    EXPECT_LE(ledger.largest_hole, ledger.positive(LedgerPart::kHoles));
    return ledger;
  }

  NamedProgram program_;
};

TEST_F(SegmentMapTest, HolesOfNeighbouringSegmentsAreNotJoined) {
  Map(0, 20_MiB);
  Map(20_MiB, 20_MiB);
  Allocate(0, 2_MiB);
  Allocate(38_MiB, 2_MiB);
  const Ledger ledger = Failed();
  EXPECT_EQ(ledger.bytes(LedgerPart::kCached), 0);
  EXPECT_EQ(ledger.positive(LedgerPart::kHoles), 36_MiB);
  EXPECT_EQ(ledger.largest_hole, 18_MiB);
}

TEST_F(SegmentMapTest, OnlyASegmentWithoutBlocksIsCached) {
  Map(0, 20_MiB);
  Map(40_MiB, 2_MiB);
  Allocate(6_MiB, 512);
  const Ledger ledger = Failed();
  EXPECT_EQ(ledger.positive(LedgerPart::kCached), 2_MiB);
  EXPECT_EQ(ledger.positive(LedgerPart::kHoles), 20_MiB - 512);
  EXPECT_EQ(ledger.largest_hole, 14_MiB - 512);
}

TEST_F(SegmentMapTest, GranulesOfAnExpandableSegmentWithoutBlocksAreCached) {
  Reserve(0, 1_GiB);
  Map(0, 20_MiB);
  Allocate(6_MiB, 512);
  const Ledger ledger = Failed();
  EXPECT_EQ(ledger.positive(LedgerPart::kCached), 18_MiB);
  EXPECT_EQ(ledger.positive(LedgerPart::kHoles), 2_MiB - 512);
  EXPECT_EQ(ledger.largest_hole, 2_MiB - 512);
}

TEST_F(SegmentMapTest, LargePagesOfTorchAreCachedAsAWhole) {
  program_.Add(trace::Annotate{program_.Name("allocator.large_pages"), program_.Name("1")});
  Reserve(2_MiB, 1_GiB);
  Map(2_MiB, 20_MiB);
  Map(22_MiB, 40_MiB);
  Allocate(24_MiB, 512);
  const Ledger ledger = Failed();
  EXPECT_EQ(ledger.positive(LedgerPart::kCached), 40_MiB);
  EXPECT_EQ(ledger.positive(LedgerPart::kHoles), 20_MiB - 512);
  EXPECT_EQ(ledger.largest_hole, 18_MiB - 512);
}

TEST_F(SegmentMapTest, FreeMemoryOfAPrivatePoolIsNotCached) {
  Map(0, 20_MiB);
  Map(40_MiB, 20_MiB);
  Allocate(0, 2_MiB, kPool);
  Allocate(40_MiB, 2_MiB);
  program_.Free(0).Free(40_MiB);
  Allocate(80_MiB, 512);
  const Ledger ledger = Failed();
  EXPECT_EQ(ledger.positive(LedgerPart::kPrivatePools), 20_MiB);
  EXPECT_EQ(ledger.positive(LedgerPart::kCached), 20_MiB);
  EXPECT_EQ(ledger.bytes(LedgerPart::kHoles), 0);
}

TEST_F(SegmentMapTest, FreeMemoryOfEachPoolIsCountedApart) {
  Map(0, 20_MiB);
  Map(40_MiB, 10_MiB);
  Allocate(0, 3_MiB, kPool);
  Allocate(40_MiB, 10_MiB, kPool + 1);
  program_.Free(40_MiB);
  const Ledger ledger = Failed();
  ASSERT_EQ(ledger.pools.size(), 2U);
  EXPECT_EQ(ledger.pools[0].bytes, 17_MiB);
  EXPECT_EQ(ledger.pools[0].granules, 16_MiB);
  EXPECT_EQ(ledger.pools[1].bytes, 10_MiB);
}

TEST_F(SegmentMapTest, AllMappingsOfAReservedRangeBelongToThePoolOfItsBlocks) {
  Reserve(0, 1_GiB);
  Map(0, 2_MiB);
  Map(2_MiB, 2_MiB);
  Allocate(0, 3_MiB, kPool);
  Map(4_MiB, 4_MiB);
  EXPECT_EQ(Failed().positive(LedgerPart::kPrivatePools), 5_MiB);
}

TEST_F(SegmentMapTest, SegmentReusedByTheDefaultPoolLeavesItsPool) {
  Map(0, 20_MiB);
  Allocate(0, 2_MiB, kPool);
  program_.Free(0);
  Allocate(0, 2_MiB);
  program_.Free(0);
  EXPECT_EQ(Failed().positive(LedgerPart::kCached), 20_MiB);
}

}  // namespace
}  // namespace memtrace::analysis
