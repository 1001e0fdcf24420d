// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules are those of alloc_found_block, free_block, map_block and unmap_block in
// c10/cuda/CUDACachingAllocator.cpp.
#include "tools/analysis/replay/torch/torch_heap.h"

#include <gmock/gmock.h>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TorchHeapTest : public TorchHeapParts {};

// should_split: the rest of a large block must be more than kSmallSize; of a small one
// kMinBlockSize suffices.
TEST_F(TorchHeapTest, RemainderIsSplitOffIfLargeEnough) {
  Use(FreeSegment(Large(), 20_MiB), 0, 19_MiB);
  Use(FreeSegment(Large(), 20_MiB), 0, 19_MiB - 512);
  Use(FreeSegment(Small(), 2_MiB), 0, 2_MiB - 512);
  EXPECT_THAT(Segments(),
              ElementsAre("used 20M", "used 19922432, free 1049088", "used 2096640, free 512"));
}

// MemPool(no_split=True): a segment holds one block.
TEST_F(TorchHeapTest, PoolThatDoesNotSplitGivesWholeBlocks) {
  Large(kStream, /*pool=*/3).pool->is_split = false;
  Use(FreeSegment(Large(kStream, 3), 20_MiB), 0, 2_MiB);
  EXPECT_THAT(Segments(), ElementsAre("used 20M"));
}

TEST_F(TorchHeapTest, FreedBlockIsMergedWithItsFreeNeighbours) {
  TorchBlock& segment = FreeSegment(Large(), 20_MiB);
  TorchBlock& first = Use(segment, 0, 4_MiB);
  TorchBlock& second = Use(segment, 4_MiB, 4_MiB);
  TorchBlock& third = Use(segment, 8_MiB, 4_MiB);
  heap_.Free(first);
  heap_.Free(third);
  EXPECT_THAT(Segments(), ElementsAre("free 4M, used 4M, free 12M"));
  heap_.Free(second);
  EXPECT_THAT(Segments(), ElementsAre("free 20M"));
}

TEST_F(TorchHeapTest, OnlyFreeAndSufficientRangesAreCarved) {
  TorchBlock& segment = FreeSegment(Large(), 20_MiB);
  const DeviceAddress base = segment.segment->base;
  Use(segment, 8_MiB, 4_MiB);
  EXPECT_EQ(heap_.Carve(base + 8_MiB, 2_MiB), nullptr);
  EXPECT_EQ(heap_.Carve(base + 6_MiB, 2_MiB + 512), nullptr);
  EXPECT_EQ(heap_.Carve(base + 20_MiB, 512), nullptr);
  TorchBlock* carved = heap_.Carve(base + 6_MiB, 2_MiB);
  ASSERT_NE(carved, nullptr);
  EXPECT_EQ(carved->address, base + 6_MiB);
  EXPECT_FALSE(heap_.lanes().Lists(*carved));
  heap_.Use(*carved, 2_MiB);
}

TEST_F(TorchHeapTest, SegmentsCountAsReservedUntilReleased) {
  TorchBlock& first = FreeSegment(Large(), 20_MiB);
  FreeSegment(Large(), 30_MiB);
  heap_.RemoveSegment(*first.segment);
  EXPECT_EQ(heap_.reserved(), 30_MiB);
  EXPECT_EQ(heap_.peak_reserved(), 50_MiB);
  EXPECT_THAT(addresses_.mapped, ElementsAre("20M", "30M"));
  EXPECT_THAT(addresses_.released, ElementsAre("20M"));
}

TEST_F(TorchHeapTest, OnlyMappedPartOfAReservationCounts) {
  TorchBlock& chunks = FreeChunks(Large(), 40_MiB, /*reservation=*/100_MiB);
  EXPECT_EQ(heap_.reserved(), 40_MiB);
  EXPECT_THAT(Segments(), ElementsAre("free 40M, unmapped 60M"));
  const DeviceAddress base = chunks.segment->base;
  heap_.Unmap(chunks, AddressRange::Of(base, 20_MiB));
  EXPECT_THAT(Segments(), ElementsAre("unmapped 20M, free 20M, unmapped 60M"));
  heap_.Map(*chunks.segment->first, AddressRange::Of(base, 20_MiB));
  EXPECT_THAT(Segments(), ElementsAre("free 40M, unmapped 60M"));
  EXPECT_EQ(heap_.peak_reserved(), 40_MiB);
}

// release_expandable_segment: a segment without memory is destroyed.
TEST_F(TorchHeapTest, ReservationWithoutMemoryIsReleased) {
  TorchBlock& chunks = FreeChunks(Large(), 40_MiB, /*reservation=*/100_MiB);
  heap_.Unmap(chunks, AddressRange::Of(chunks.address, 40_MiB));
  EXPECT_THAT(Segments(), IsEmpty());
  EXPECT_EQ(heap_.reserved(), 0U);
  EXPECT_EQ(heap_.segments().reservations_given_up(), 1U);
  EXPECT_THAT(addresses_.released, IsEmpty()) << "it was no segment of cudaMalloc";
  EXPECT_TRUE(Large().unmapped.empty());
}

// A broken trace maps one address twice.
TEST_F(TorchHeapTest, SecondSegmentAtAnAddressIsMoved) {
  TorchBlock* first = heap_.AddSegment(Large(), AddressRange::Of(DeviceAddress{1_GiB}, 20_MiB));
  heap_.lanes().Put(*first);
  TorchBlock* second = heap_.AddSegment(Large(), AddressRange::Of(DeviceAddress{1_GiB}, 30_MiB));
  heap_.lanes().Put(*second);
  EXPECT_NE(second->address, first->address);
  EXPECT_EQ(heap_.reserved(), 50_MiB);
}

}  // namespace
}  // namespace memtrace::replay
