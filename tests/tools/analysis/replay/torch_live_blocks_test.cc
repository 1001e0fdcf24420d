// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_live_blocks.h"

#include <gmock/gmock.h>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;

class TorchLiveBlocksTest : public TorchHeapParts {
 protected:
  // Takes `size` bytes at `offset` of a segment.
  Placed Take(const TorchBlock& of, Bytes offset, Bytes size) {
    return blocks_.Use(*heap_.Carve(of.segment->base + offset, size), size);
  }
  void Free(const Placed& placed) {
    blocks_.RequestFree(placed.block);
    blocks_.CompleteFree(placed.block);
  }

  TorchLiveBlocks blocks_{heap_};
};

TEST_F(TorchLiveBlocksTest, PlaceHasSegmentOffsetAddressAndSize) {
  FreeSegment(Small(), 2_MiB);
  const TorchBlock& segment = FreeSegment(Large(), 20_MiB);
  const Placed placed = Take(segment, 4_MiB, 3_MiB);
  EXPECT_EQ(placed.segment, 1U);
  EXPECT_EQ(placed.offset, 4_MiB);
  EXPECT_EQ(placed.address, segment.segment->base + 4_MiB);
  EXPECT_EQ(placed.size, 3_MiB);
  const TorchBlock& whole = FreeSegment(Large(), 20_MiB);
  EXPECT_EQ(Take(whole, 0, 20_MiB - 512).size, 20_MiB) << "too little is left to be cut off";
}

// DeviceStats: allocated_bytes falls in free(), not when the events of other streams are done.
TEST_F(TorchLiveBlocksTest, PeakCountsABlockUntilItsFreeIsRequested) {
  const TorchBlock& segment = FreeSegment(Large(), 20_MiB);
  const Placed first = Take(segment, 0, 8_MiB);
  blocks_.RequestFree(first.block);
  const Placed second = Take(segment, 8_MiB, 5_MiB);
  EXPECT_EQ(blocks_.peak_allocated(), 8_MiB);
  Take(segment, 13_MiB, 4_MiB);
  EXPECT_EQ(blocks_.peak_allocated(), 9_MiB);
  blocks_.CompleteFree(first.block);
  Free(second);
  EXPECT_EQ(blocks_.peak_allocated(), 9_MiB);
}

// process_events: a block with stream_uses is free once all their events are done.
TEST_F(TorchLiveBlocksTest, BlockIsFreeOnceItsFreeIsCompleted) {
  const TorchBlock& segment = FreeSegment(Large(), 20_MiB);
  const Placed placed = Take(segment, 0, 8_MiB);
  blocks_.RequestFree(placed.block);
  EXPECT_THAT(Segments(), ElementsAre("used 8M, free 12M"));
  blocks_.CompleteFree(placed.block);
  EXPECT_THAT(Segments(), ElementsAre("free 20M"));
}

TEST_F(TorchLiveBlocksTest, NumberIsReusedOnceItsBlockIsFreed) {
  const TorchBlock& segment = FreeSegment(Large(), 20_MiB);
  const Placed first = Take(segment, 0, 2_MiB);
  blocks_.RequestFree(first.block);
  const Placed second = Take(segment, 2_MiB, 2_MiB);
  EXPECT_NE(second.block, first.block);
  blocks_.CompleteFree(first.block);
  EXPECT_EQ(Take(segment, 4_MiB, 2_MiB).block, first.block);
}

// synchronize_and_free_events frees all waiting blocks before the cache is released.
TEST_F(TorchLiveBlocksTest, WaitingBlocksCanBeFreedBeforeTheirStreamsAreDone) {
  const TorchBlock& segment = FreeSegment(Large(), 20_MiB);
  const Placed waiting = Take(segment, 0, 8_MiB);
  const Placed used = Take(segment, 8_MiB, 2_MiB);
  blocks_.RequestFree(waiting.block);
  blocks_.FreeWaiting();
  EXPECT_THAT(Segments(), ElementsAre("free 8M, used 2M, free 10M"));
  const Placed other = Take(segment, 0, 4_MiB);
  EXPECT_NE(other.block, waiting.block) << "its free will be completed yet";
  blocks_.CompleteFree(waiting.block);
  EXPECT_THAT(Segments(), ElementsAre("used 4M, free 4M, used 2M, free 10M"));
  Free(used);
}

TEST_F(TorchLiveBlocksTest, DoubleFreeRequestDies) {
  const Placed placed = Take(FreeSegment(Large(), 20_MiB), 0, 8_MiB);
  blocks_.RequestFree(placed.block);
  EXPECT_DEATH(blocks_.RequestFree(placed.block), "is_waiting");
  blocks_.CompleteFree(placed.block);
  EXPECT_DEATH(blocks_.RequestFree(placed.block), "is_waiting");
}

}  // namespace
}  // namespace memtrace::replay
