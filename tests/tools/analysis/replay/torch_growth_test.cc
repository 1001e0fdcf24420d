// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules are those of alloc_block, try_allocate_expandable_block and find_expandable_block in
// c10/cuda/CUDACachingAllocator.cpp; each test names its own.
#include "tools/analysis/replay/torch/torch_growth.h"

#include <gmock/gmock.h>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;

class TorchGrowthTest : public TorchHeapParts {
 protected:
  explicit TorchGrowthTest(const char* settings = "") : TorchHeapParts(settings) {}

  TorchGrowth GrowthOn(Bytes card, Bytes capacity = ~Bytes{0}) {
    return {{.settings = settings_, .capacity = capacity, .card = card}, heap_, addresses_};
  }
  // Returns the memory for a request that no free block serves, in use from then on; "nothing" if
  // there is none.
  std::string Grow(TorchGrowth& growth, Bytes rounded, StreamId stream = kStream) {
    TorchLane& lane = heap_.lanes().Of({rounded, stream, 0});
    TorchBlock* block = growth.Extend(lane, rounded);
    if (block == nullptr) return "nothing";
    const Bytes offset = block->address - block->segment->base;
    heap_.Use(*block, rounded);
    return std::to_string(block->segment->ordinal) + "+" + SizeText(offset);
  }
};

// get_allocation_size: 2 MiB for small requests, 20 MiB below 10 MiB, else whole 2 MiB.
TEST_F(TorchGrowthTest, SegmentSizeFollowsTheRequest) {
  TorchGrowth growth = GrowthOn(/*card=*/0);
  EXPECT_EQ(Grow(growth, 512), "0+0M");
  EXPECT_EQ(Grow(growth, 2_MiB), "1+0M");
  EXPECT_EQ(Grow(growth, 11_MiB), "2+0M");
  EXPECT_THAT(Segments(), ElementsAre("used 512, free 2096640", "used 2M, free 18M", "used 12M"));
  EXPECT_EQ(growth.calls().allocations, 3U);
  EXPECT_EQ(growth.calls().creates, 0U);
}

// alloc_block: cudaMalloc that returns cudaErrorMemoryAllocation leaves everything as it is.
TEST_F(TorchGrowthTest, RequestBeyondTheCardFailsAndIsCounted) {
  TorchGrowth growth = GrowthOn(/*card=*/0, /*capacity=*/30_MiB);
  EXPECT_EQ(Grow(growth, 20_MiB), "0+0M");
  EXPECT_EQ(Grow(growth, 10_MiB + 512), "nothing");
  EXPECT_EQ(growth.calls().failed, 1U);
  EXPECT_EQ(Grow(growth, 10_MiB), "1+0M");
}

class ExpandableGrowthTest : public TorchGrowthTest {
 protected:
  explicit ExpandableGrowthTest(const char* settings = "expandable_segments:True")
      : TorchGrowthTest(settings) {}
};

// ExpandableSegment: address space for 9/8 of the card, in whole chunks (max_handles).
TEST_F(ExpandableGrowthTest, ReservationIsNineEighthsOfTheCardInWholeChunks) {
  TorchGrowth growth = GrowthOn(/*card=*/90_MiB);
  Grow(growth, 15_MiB);
  Grow(growth, 512);
  EXPECT_THAT(Segments(), ElementsAre("used 15M, free 5M, unmapped 100M",
                                      "used 512, free 2096640, unmapped 100M"));
  EXPECT_EQ(growth.calls().creates, 2U);
  EXPECT_EQ(growth.calls().accesses, 2U);
}

// find_expandable_block: free memory right before unmapped memory is also used.
TEST_F(ExpandableGrowthTest, GrowthBeginsInThePrecedingFreeBlock) {
  TorchGrowth growth = GrowthOn(/*card=*/800_MiB);
  Grow(growth, 15_MiB);
  EXPECT_EQ(Grow(growth, 30_MiB), "0+15M");
  EXPECT_THAT(Segments(), ElementsAre("used 15M, used 30M, free 15M, unmapped 840M"));
  EXPECT_EQ(growth.calls().creates, 3U) << "5 of the 30 were mapped";
}

// find_expandable_block goes through the unmapped blocks of the stream by address.
TEST_F(ExpandableGrowthTest, LowestSufficientRangeGrows) {
  TorchGrowth growth = GrowthOn(/*card=*/800_MiB);
  TorchBlock& chunks = FreeChunks(Large(), 160_MiB, /*reservation=*/900_MiB);
  const DeviceAddress base = chunks.segment->base;
  Use(chunks, 20_MiB, 20_MiB);
  Use(chunks, 80_MiB, 20_MiB);
  Use(chunks, 140_MiB, 20_MiB);
  heap_.Unmap(*heap_.segments().BlockAt(base), AddressRange::Of(base, 20_MiB));
  heap_.Unmap(*heap_.segments().BlockAt(base + 100_MiB), AddressRange::Of(base + 100_MiB, 40_MiB));
  EXPECT_EQ(Grow(growth, 60_MiB), "0+160M") << "20 and 40 are too short";
  EXPECT_EQ(Grow(growth, 35_MiB), "0+100M");
  EXPECT_EQ(Grow(growth, 20_MiB), "0+0M");
}

TEST_F(ExpandableGrowthTest, EachStreamHasItsOwnReservation) {
  TorchGrowth growth = GrowthOn(/*card=*/80_MiB);
  Grow(growth, 20_MiB);
  EXPECT_EQ(Grow(growth, 20_MiB, kOther), "1+0M");
}

// try_allocate_expandable_block maps one range after the other; when one fails, those before it
// stay mapped.
TEST_F(ExpandableGrowthTest, MemoryMappedBeforeAFailureStays) {
  TorchGrowth growth = GrowthOn(/*card=*/800_MiB, /*capacity=*/80_MiB);
  TorchBlock& chunks = FreeChunks(Large(), 60_MiB, /*reservation=*/900_MiB);
  const DeviceAddress base = chunks.segment->base;
  heap_.Unmap(chunks, AddressRange::Of(base + 20_MiB, 20_MiB));
  EXPECT_EQ(Grow(growth, 100_MiB), "nothing");
  EXPECT_THAT(Segments(), ElementsAre("free 60M, unmapped 840M"));
  EXPECT_EQ(growth.calls().creates, 1U);
  EXPECT_EQ(growth.calls().failed, 1U);
}

TEST_F(ExpandableGrowthTest, OnlyMappedMemoryIsFoundMapped) {
  TorchGrowth growth = GrowthOn(/*card=*/800_MiB);
  EXPECT_FALSE(growth.FindsMappedMemory(Large(), 2_MiB));
  TorchBlock& chunks = FreeChunks(Large(), 20_MiB, /*reservation=*/900_MiB);
  Use(chunks, 0, 4_MiB);
  EXPECT_TRUE(growth.FindsMappedMemory(Large(), 16_MiB));
  EXPECT_FALSE(growth.FindsMappedMemory(Large(), 16_MiB + 512));
}

// A trace that does not say how large the card is does not say where its reservations end.
TEST_F(ExpandableGrowthTest, ReservationOfUnknownEndContinuesIfTheDriverAllows) {
  TorchGrowth growth = GrowthOn(/*card=*/0);
  Grow(growth, 20_MiB);
  EXPECT_EQ(Grow(growth, 20_MiB), "0+20M");
  addresses_.goes_on = false;
  EXPECT_EQ(Grow(growth, 20_MiB), "1+0M");
}

class LimitedGrowthTest : public ExpandableGrowthTest {
 protected:
  LimitedGrowthTest()
      : ExpandableGrowthTest("expandable_segments:True,per_process_memory_fraction:0.5") {}
};

// alloc_block compares allowed_memory_maximum with the reserved memory plus the size of the
// segment, before it checks how much of that is mapped.
TEST_F(LimitedGrowthTest, FractionCountsTheWholeSegmentEvenIfPartlyMapped) {
  TorchGrowth growth = GrowthOn(/*card=*/100_MiB);
  EXPECT_EQ(growth.limit(), 50_MiB);
  FreeChunks(Large(), 20_MiB, /*reservation=*/120_MiB);
  EXPECT_EQ(Grow(growth, 40_MiB), "nothing") << "20 more would do";
  EXPECT_EQ(growth.calls().failed, 0U) << "the driver is not asked";
  EXPECT_EQ(Grow(growth, 30_MiB), "0+0M");
}

TEST_F(LimitedGrowthTest, FractionOfAnUnknownCardIsNoLimit) {
  EXPECT_EQ(GrowthOn(/*card=*/0).limit(), TorchGrowth::kNoLimit);
}

// Memory that a recording has as mapped, but that nobody requested here.
TEST_F(TorchGrowthTest, AddedMemoryIsFreeWithoutACall) {
  TorchGrowth growth = GrowthOn(/*card=*/0);
  growth.AddAt(Large(), AddressRange::Of(DeviceAddress{1_GiB}, 20_MiB));
  growth.AddAt(Large(), AddressRange::Of(DeviceAddress{1_GiB}, 20_MiB));
  growth.AddAt(Large(), AddressRange::Of(DeviceAddress{1_GiB} + 2_MiB, 2_MiB));
  EXPECT_THAT(Segments(), ElementsAre("free 20M"));
  EXPECT_EQ(growth.calls().allocations, 0U);
}

TEST_F(ExpandableGrowthTest, AddedMemoryJoinsTheReservationAroundIt) {
  TorchGrowth growth = GrowthOn(/*card=*/80_MiB);
  growth.AddAt(Large(), AddressRange::Of(DeviceAddress{1_GiB}, 20_MiB));
  growth.AddAt(Large(), AddressRange::Of(DeviceAddress{1_GiB} + 40_MiB, 20_MiB));
  EXPECT_THAT(Segments(), ElementsAre("free 20M, unmapped 20M, free 20M, unmapped 40M"));
  growth.AddAt(Large(), AddressRange::Of(DeviceAddress{1_GiB} + 40_MiB, 20_MiB));
  EXPECT_EQ(heap_.reserved(), 40_MiB) << "it was there";
  EXPECT_EQ(growth.calls().creates, 0U);
}

TEST_F(ExpandableGrowthTest, AddedMemoryOfAnotherLaneIsItsOwnReservation) {
  TorchGrowth growth = GrowthOn(/*card=*/80_MiB);
  growth.AddAt(Large(), AddressRange::Of(DeviceAddress{1_GiB}, 20_MiB));
  growth.AddAt(Large(kOther), AddressRange::Of(DeviceAddress{1_GiB} + 40_MiB, 20_MiB));
  EXPECT_EQ(heap_.segments().reservations(), 2U);
  EXPECT_EQ(Large(kOther).free.size(), 1U);
}

}  // namespace
}  // namespace memtrace::replay
