// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_policy.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace memtrace::replay {
namespace {

constexpr StreamId kStream{0};
constexpr StreamId kOther{7};

TorchPolicy::Options On(const std::string& settings, Bytes capacity = ~Bytes{0}, Bytes card = 0) {
  return {.settings = TorchSettings::Parse(settings), .capacity = capacity, .card = card};
}

// Returns "0+2M" for 2 MiB into the first segment, or "out of memory".
std::string Place(const std::optional<Placed>& placed) {
  if (!placed) return "out of memory";
  const std::string offset = placed->offset % 1_MiB == 0
                                 ? std::to_string(placed->offset >> 20) + "M"
                                 : std::to_string(placed->offset);
  return std::to_string(placed->segment) + "+" + offset;
}

class TorchPolicyTest : public testing::Test {
 protected:
  static std::string Allocate(TorchPolicy& policy, Bytes bytes, StreamId stream = kStream,
                              uint32_t pool = 0) {
    return Place(policy.Allocate({bytes, stream, pool}));
  }
  static BlockNumber Block(TorchPolicy& policy, Bytes bytes, StreamId stream = kStream) {
    return policy.Allocate({bytes, stream, 0})->block;
  }
};

TEST_F(TorchPolicyTest, SizeClassesStreamsAndPoolsHaveSeparateSegments) {
  TorchPolicy policy(On(""));
  EXPECT_EQ(Allocate(policy, 512), "0+0M");
  EXPECT_EQ(Allocate(policy, 2_MiB), "1+0M");
  EXPECT_EQ(Allocate(policy, 512, kOther), "2+0M");
  EXPECT_EQ(Allocate(policy, 512, kStream, 1), "3+0M");
  EXPECT_EQ(Allocate(policy, 512), "0+512");
  EXPECT_EQ(Allocate(policy, 2_MiB), "1+2M");
  EXPECT_EQ(policy.peak_reserved(), 26_MiB);
}

TEST_F(TorchPolicyTest, SmallestFitIsTakenAndLowestAmongEquals) {
  TorchPolicy policy(On(""));
  const BlockNumber large = Block(policy, 6_MiB);  // 0 to 6
  Block(policy, 2_MiB);
  const BlockNumber first = Block(policy, 3_MiB);  // 8 to 11
  Block(policy, 2_MiB);
  const BlockNumber second = Block(policy, 3_MiB);  // 13 to 16
  Block(policy, 4_MiB);
  policy.Free(second);
  policy.Free(large);
  policy.Free(first);
  EXPECT_EQ(Allocate(policy, 3_MiB), "0+8M");
  EXPECT_EQ(Allocate(policy, 3_MiB), "0+13M");
  EXPECT_EQ(Allocate(policy, 3_MiB), "0+0M");
}

// The driver's areas grow downwards, so that the second segment has the lower address.
TEST_F(TorchPolicyTest, LowestOrOldestOfEqualSegmentsIsTaken) {
  for (const bool oldest_first : {false, true}) {
    TorchPolicy::Options options = On("");
    options.settings.oldest_segment_first = oldest_first;
    TorchPolicy policy(options);
    const BlockNumber first = Block(policy, 20_MiB);
    const BlockNumber second = Block(policy, 20_MiB);
    policy.Free(first);
    policy.Free(second);
    EXPECT_EQ(Allocate(policy, 20_MiB), oldest_first ? "0+0M" : "1+0M");
    policy.heap().CheckInvariants();
  }
}

TEST_F(TorchPolicyTest, FreeNeighboursAreMerged) {
  TorchPolicy policy(On(""));
  const BlockNumber first = Block(policy, 6_MiB);
  const BlockNumber second = Block(policy, 6_MiB);
  Block(policy, 8_MiB);
  policy.Free(first);
  policy.Free(second);
  EXPECT_EQ(Allocate(policy, 9_MiB), "0+0M");
  policy.heap().CheckInvariants();
}

TEST_F(TorchPolicyTest, BlockUsedByOtherStreamsIsNotFreeYet) {
  TorchPolicy policy(On(""));
  const BlockNumber block = Block(policy, 20_MiB);
  policy.RequestFree(block);
  EXPECT_EQ(Allocate(policy, 20_MiB), "1+0M");
  policy.CompleteFree(block);
  EXPECT_EQ(Allocate(policy, 20_MiB), "0+0M");
  EXPECT_EQ(policy.peak_allocated(), 40_MiB);
}

TEST_F(TorchPolicyTest, FullCardEmptiesTheCacheAndWaitsForStreams) {
  TorchPolicy policy(On("", 64_MiB));
  const BlockNumber waiting = Block(policy, 30_MiB);
  policy.RequestFree(waiting);
  EXPECT_EQ(Allocate(policy, 40_MiB, kOther), "1+0M");
  EXPECT_EQ(Allocate(policy, 26_MiB), "out of memory");
  EXPECT_EQ(Allocate(policy, 24_MiB), "2+0M");
  policy.CompleteFree(waiting);  // it was complete already; nothing happens
  policy.heap().CheckInvariants();
  EXPECT_EQ(policy.calls(), (DriverCalls{{"cudaMalloc", 6}, {"cudaFree", 1}}));
}

TEST_F(TorchPolicyTest, PartlyUsedSegmentIsNotReleased) {
  TorchPolicy policy(On(""));
  Block(policy, 2_MiB);
  const BlockNumber whole = Block(policy, 30_MiB);
  policy.Free(whole);
  policy.EmptyCache();
  EXPECT_EQ(policy.heap().reserved(), 20_MiB);
}

TEST_F(TorchPolicyTest, ExpandableSegmentGrowsByChunksAfterItsFreeTail) {
  TorchPolicy policy(On("expandable_segments:True"));
  EXPECT_EQ(Allocate(policy, 15_MiB), "0+0M");
  EXPECT_EQ(Allocate(policy, 15_MiB), "0+15M");
  EXPECT_EQ(policy.peak_reserved(), 40_MiB);
  EXPECT_EQ(Allocate(policy, 1), "1+0M");
  EXPECT_EQ(policy.peak_reserved(), 42_MiB);
}

TEST_F(TorchPolicyTest, EmptyCacheUnmapsWholeChunksAndHolesAreFilledFirst) {
  TorchPolicy policy(On("expandable_segments:True"));
  const BlockNumber first = Block(policy, 50_MiB);
  Block(policy, 30_MiB);
  policy.Free(first);
  policy.EmptyCache();
  EXPECT_EQ(policy.heap().reserved(), 40_MiB);  // 40 to 80, of which 10 are free
  EXPECT_EQ(Allocate(policy, 45_MiB), "0+0M");
  EXPECT_EQ(policy.heap().reserved(), 80_MiB);
  policy.heap().CheckInvariants();
}

// torch takes the block that could grow less of two that fit; a tail could grow without end.
TEST_F(TorchPolicyTest, TailOfAReservationIsTheWorstFit) {
  TorchPolicy policy(On("expandable_segments:True"));
  const BlockNumber hole = Block(policy, 8_MiB);
  Block(policy, 26_MiB);  // 6 MiB are left at the end
  policy.Free(hole);
  EXPECT_EQ(Allocate(policy, 5_MiB), "0+0M");
}

TEST_F(TorchPolicyTest, ReservationIsNineEighthsOfTheCard) {
  TorchPolicy policy(On("expandable_segments:True", 160_MiB, 160_MiB));
  const BlockNumber first = Block(policy, 100_MiB);
  Block(policy, 60_MiB);
  policy.Free(first);
  policy.EmptyCache();
  EXPECT_EQ(Allocate(policy, 90_MiB), "0+0M");
  EXPECT_EQ(policy.calls().at("cuMemAddressReserve"), 1u);
}

TEST_F(TorchPolicyTest, OversizeBlocksAreReleasedBeforeTheCache) {
  TorchPolicy policy(On("max_split_size_mb:32", 150_MiB));
  const BlockNumber oversize = Block(policy, 60_MiB);
  const BlockNumber cached = Block(policy, 30_MiB);
  policy.Free(oversize);
  policy.Free(cached);
  EXPECT_EQ(Allocate(policy, 110_MiB), "2+0M") << "60 are not 110: the rest of the cache, too";
  EXPECT_EQ(policy.heap().reserved(), 110_MiB);
  TorchPolicy roomier(On("max_split_size_mb:32", 150_MiB));
  const BlockNumber again = Block(roomier, 100_MiB);
  const BlockNumber kept = Block(roomier, 30_MiB);
  roomier.Free(again);
  roomier.Free(kept);
  EXPECT_EQ(Allocate(roomier, 70_MiB), "2+0M");
  EXPECT_EQ(roomier.heap().reserved(), 100_MiB) << "30 stay in the cache";
}

TEST_F(TorchPolicyTest, GarbageCollectionReleasesTheOldestBlocks) {
  TorchPolicy policy(
      On("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5", 400_MiB, 400_MiB));
  const BlockNumber old = Block(policy, 50_MiB);
  policy.Free(old);
  const BlockNumber young = Block(policy, 60_MiB);
  policy.Free(young);
  EXPECT_EQ(Allocate(policy, 70_MiB), "2+0M");
  EXPECT_EQ(policy.heap().reserved(), 130_MiB) << "50 were given back: limit 200, threshold 100";
  EXPECT_EQ(Allocate(policy, 140_MiB), "out of memory");
}

// Random programs keep the structures consistent.
class RandomTorchPolicyTest : public testing::TestWithParam<const char*> {};

TEST_P(RandomTorchPolicyTest, StaysConsistent) {
  std::minstd_rand random(1);
  TorchPolicy policy(On(GetParam(), 1_GiB, 1200_MiB));
  std::vector<BlockNumber> live;
  std::vector<BlockNumber> waiting;
  for (int i = 0; i < 3000; ++i) {
    const Bytes bytes = 1 + random() % (random() % 3 == 0 ? 100_MiB : 1_MiB);
    const auto placed = policy.Allocate({bytes, random() % 2 == 0 ? kStream : kOther, 0});
    if (placed) live.push_back(placed->block);
    for (size_t frees = random() % 3; frees > 0 && !live.empty(); --frees) {
      std::swap(live[random() % live.size()], live.back());
      if (random() % 4 == 0) {
        policy.RequestFree(live.back());
        waiting.push_back(live.back());
      } else {
        policy.Free(live.back());
      }
      live.pop_back();
    }
    if (random() % 8 == 0 && !waiting.empty()) {
      policy.CompleteFree(waiting.back());
      waiting.pop_back();
    }
    if (random() % 200 == 0) policy.EmptyCache();
    policy.heap().CheckInvariants();
  }
  for (const BlockNumber block : live) policy.Free(block);
  policy.EmptyCache();
  EXPECT_EQ(policy.heap().reserved(), 0u);
  EXPECT_LE(policy.peak_reserved(), 1_GiB);
}

INSTANTIATE_TEST_SUITE_P(Settings, RandomTorchPolicyTest,
                         testing::Values("", "expandable_segments:True", "max_split_size_mb:40",
                                         "max_split_size_mb:40,expandable_segments:True",
                                         "garbage_collection_threshold:0.5,"
                                         "per_process_memory_fraction:0.6",
                                         "roundup_power2_divisions:4"));

}  // namespace
}  // namespace memtrace::replay
