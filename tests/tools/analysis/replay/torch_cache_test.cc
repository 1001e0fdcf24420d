// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules are those of release_blocks, release_available_cached_blocks and
// garbage_collect_cached_blocks in c10/cuda/CUDACachingAllocator.cpp; each test names its own.
#include "tools/analysis/replay/torch/torch_cache.h"

#include <gmock/gmock.h>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TorchCacheTest : public TorchHeapParts {
 protected:
  explicit TorchCacheTest(const char* settings = "") : TorchHeapParts(settings) {}

  TorchCache cache_{settings_, heap_};
};

// release_blocks: `if (!block->prev && !block->next) release_block(block)`.
TEST_F(TorchCacheTest, EmptyReleasesWhollyFreeSegments) {
  FreeSegment(Large(), 30_MiB);
  FreeSegment(Small(kOther), 2_MiB);
  Use(FreeSegment(Large(), 20_MiB), 4_MiB, 2_MiB);
  UseSegment(Large(), 50_MiB);
  cache_.Empty();
  EXPECT_THAT(Segments(), ElementsAre("free 4M, used 2M, free 14M", "used 50M"));
  EXPECT_THAT(addresses_.released, ElementsAre("30M", "2M"));
  EXPECT_EQ(cache_.frees(), 2U);
}

// release_cached_blocks leaves private pools alone that a graph may still use (use_count > 0).
TEST_F(TorchCacheTest, EmptyKeepsPrivatePools) {
  FreeSegment(Large(kStream, /*pool=*/1), 30_MiB);
  cache_.Empty();
  EXPECT_THAT(Segments(), ElementsAre("free 30M"));
}

// unmap_block takes the chunks that lie wholly within the free block.
TEST_F(TorchCacheTest, EmptyUnmapsWholeChunksOfAReservation) {
  TorchBlock& chunks = FreeChunks(Large(), 100_MiB, /*reservation=*/200_MiB);
  Use(chunks, 0, 4_MiB);
  Use(chunks, 70_MiB, 4_MiB);
  cache_.Empty();
  EXPECT_THAT(Segments(),
              ElementsAre("used 4M, free 16M, unmapped 40M, free 10M, used 4M, free 6M, "
                          "unmapped 120M"));
  EXPECT_EQ(cache_.unmaps(), 3U) << "chunks of 20 MiB";
  EXPECT_EQ(cache_.frees(), 0U);
}

TEST_F(TorchCacheTest, FreeBlockWithoutAWholeChunkStays) {
  TorchBlock& chunks = FreeChunks(Large(), 40_MiB, /*reservation=*/100_MiB);
  Use(chunks, 0, 1_MiB);
  Use(chunks, 39_MiB, 1_MiB);
  cache_.Empty();
  EXPECT_THAT(Segments(), ElementsAre("used 1M, free 38M, used 1M, unmapped 60M"));
}

TEST_F(TorchCacheTest, OnlyTheExactRangeIsReleased) {
  TorchBlock& segment = FreeSegment(Large(), 30_MiB);
  const DeviceAddress base = segment.address;
  cache_.Release(AddressRange::Of(base, 20_MiB));
  cache_.Release(AddressRange::Of(base + 10_MiB, 20_MiB));
  cache_.Release(AddressRange::Of(base, 40_MiB));
  cache_.Release(AddressRange::Of(base + 1_GiB, 20_MiB));
  EXPECT_THAT(Segments(), ElementsAre("free 30M"));
  cache_.Release(AddressRange::Of(base, 30_MiB));
  EXPECT_THAT(Segments(), IsEmpty());
  EXPECT_EQ(cache_.frees(), 1U);
}

TEST_F(TorchCacheTest, PartOfAReservationIsReleasedIfEntirelyFree) {
  TorchBlock& chunks = FreeChunks(Large(), 60_MiB, /*reservation=*/100_MiB);
  const DeviceAddress base = chunks.segment->base;
  Use(chunks, 40_MiB, 2_MiB);
  cache_.Release(AddressRange::Of(base + 20_MiB, 40_MiB));
  EXPECT_EQ(heap_.reserved(), 60_MiB);
  cache_.Release(AddressRange::Of(base + 20_MiB, 20_MiB));
  EXPECT_THAT(Segments(), ElementsAre("free 20M, unmapped 20M, used 2M, free 18M, unmapped 40M"));
}

class OversizeCacheTest : public TorchCacheTest {
 protected:
  OversizeCacheTest() : TorchCacheTest("max_split_size_mb:32") {}
};

// release_available_cached_blocks: one block that is large enough, and the smallest of these.
TEST_F(OversizeCacheTest, SmallestSufficientOversizeBlockIsReleased) {
  FreeSegment(Large(), 100_MiB);
  FreeSegment(Large(), 60_MiB);
  FreeSegment(Large(), 40_MiB);
  EXPECT_TRUE(cache_.ReleaseOversize(Large(), 50_MiB));
  EXPECT_THAT(addresses_.released, ElementsAre("60M"));
}

// "we use the max_split_size as the minimum": a small request also releases an oversize block.
TEST_F(OversizeCacheTest, SmallRequestReleasesAnOversizeBlock) {
  FreeSegment(Large(), 30_MiB);
  FreeSegment(Large(), 40_MiB);
  EXPECT_TRUE(cache_.ReleaseOversize(Large(), 2_MiB));
  EXPECT_THAT(addresses_.released, ElementsAre("40M"));
}

// If no block suffices, the largest are released one after the other until they add up to it.
TEST_F(OversizeCacheTest, SeveralBlocksAreReleasedLargestFirst) {
  FreeSegment(Large(), 34_MiB);
  FreeSegment(Large(), 60_MiB);
  FreeSegment(Large(), 50_MiB);
  EXPECT_TRUE(cache_.ReleaseOversize(Large(), 110_MiB));
  EXPECT_THAT(addresses_.released, ElementsAre("60M", "50M"));
}

TEST_F(OversizeCacheTest, SplittableBlocksAndThoseOfOtherStreamsStay) {
  FreeSegment(Large(), 31_MiB);
  FreeSegment(Large(), 40_MiB);
  FreeSegment(Large(kOther), 100_MiB);
  EXPECT_FALSE(cache_.ReleaseOversize(Large(), 60_MiB)) << "what is released is not enough";
  EXPECT_THAT(addresses_.released, ElementsAre("40M"));
}

// release_available_cached_blocks returns at once if max_split_size is not set.
TEST_F(TorchCacheTest, NothingIsOversizeWithoutASplitLimit) {
  FreeSegment(Large(), 100_MiB);
  EXPECT_FALSE(cache_.ReleaseOversize(Large(), 50_MiB));
  EXPECT_THAT(addresses_.released, IsEmpty());
}

// Segments that became free one after the other, 0, 1, 2 ... searches of their pool apart.
class GarbageTest : public TorchCacheTest {
 protected:
  void FreeOneAfterAnother(std::initializer_list<Bytes> sizes) {
    for (const Bytes size : sizes) {
      FreeSegment(Large(), size);
      ++Large().pool->searches;
    }
  }
};

// garbage_collect_cached_blocks: blocks whose age is at least the mean of all that are freeable.
TEST_F(GarbageTest, BlocksAtLeastAsOldAsTheMeanAreReleased) {
  FreeOneAfterAnother({10_MiB, 20_MiB, 30_MiB});  // ages 3, 2 and 1
  cache_.CollectGarbage(40_MiB);
  EXPECT_THAT(Segments(), ElementsAre("free 30M"));
}

TEST_F(GarbageTest, NothingIsReleasedBelowTheThreshold) {
  FreeOneAfterAnother({10_MiB, 20_MiB, 30_MiB});
  cache_.CollectGarbage(60_MiB);
  EXPECT_EQ(heap_.reserved(), 60_MiB);
}

// The rest is compared with its own mean, until the target is met.
TEST_F(GarbageTest, MeanIsRecomputedUntilEnoughIsReleased) {
  FreeOneAfterAnother({10_MiB, 20_MiB, 30_MiB, 40_MiB});
  cache_.CollectGarbage(75_MiB);  // 30 are older than the mean, and then it is enough
  EXPECT_THAT(Segments(), ElementsAre("free 30M", "free 40M"));
  cache_.CollectGarbage(35_MiB);  // ages 2 and 1: 30, then the only one left
  EXPECT_THAT(Segments(), IsEmpty());
}

// Only large_blocks of the default pool count, and of these only whole segments that do not expand.
TEST_F(GarbageTest, SplitSmallPrivateAndExpandableBlocksAreKept) {
  FreeSegment(Small(), 2_MiB);
  FreeSegment(Large(kStream, /*pool=*/1), 30_MiB);
  Use(FreeSegment(Large(), 20_MiB), 0, 2_MiB);
  FreeChunks(Large(), 40_MiB, /*reservation=*/40_MiB);
  Large().pool->searches = 100;
  cache_.CollectGarbage(0);
  EXPECT_EQ(heap_.reserved(), 92_MiB);
}

}  // namespace
}  // namespace memtrace::replay
