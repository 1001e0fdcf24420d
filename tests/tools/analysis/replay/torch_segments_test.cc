// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/tools/analysis/replay/torch_heap_parts.h"

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;

constexpr DeviceAddress kLow{1_GiB};
constexpr DeviceAddress kHigh{2_GiB};

class TorchSegmentsTest : public testing::Test {
 protected:
  TorchLane lane_;
  TorchSegments segments_;
};

TEST_F(TorchSegmentsTest, SegmentContainsAddressesUpToItsEnd) {
  const TorchSegment& high = segments_.Add(lane_, AddressRange::Of(kHigh, 4_MiB), /*chunk=*/0);
  const TorchSegment& low = segments_.Add(lane_, AddressRange::Of(kLow, 2_MiB), /*chunk=*/0);
  EXPECT_EQ(segments_.At(kLow), &low);
  EXPECT_EQ(segments_.At(kLow + 2_MiB - 1), &low);
  EXPECT_EQ(segments_.At(kLow + 2_MiB), nullptr);
  EXPECT_EQ(segments_.At(DeviceAddress{1_GiB - 1}), nullptr);
  EXPECT_EQ(segments_.At(kHigh + 4_MiB - 1), &high);
  EXPECT_TRUE(segments_.HasOneAt(kHigh));
  EXPECT_FALSE(segments_.HasOneAt(kHigh + 512));
}

// Among equal free blocks torch 2.13 takes that of the segment that was requested first, even if an
// older one is gone (pytorch#183591).
TEST_F(TorchSegmentsTest, SegmentNumbersAscendAndAreNotReused) {
  segments_.Add(lane_, AddressRange::Of(kHigh, 2_MiB), /*chunk=*/0);
  TorchSegment& second = segments_.Add(lane_, AddressRange::Of(kLow, 2_MiB), /*chunk=*/0);
  EXPECT_EQ(second.ordinal, 1U);
  segments_.Remove(second);
  EXPECT_EQ(segments_.At(kLow), nullptr);
  EXPECT_EQ(segments_.Add(lane_, AddressRange::Of(kLow, 2_MiB), /*chunk=*/0).ordinal, 2U);
  std::vector<uint32_t> by_address;
  segments_.ForEach([&](const TorchSegment& segment) { by_address.push_back(segment.ordinal); });
  EXPECT_THAT(by_address, ElementsAre(2, 0));
}

TEST_F(TorchSegmentsTest, OnlyExpandableSegmentsCountAsReservations) {
  segments_.Remove(segments_.Add(lane_, AddressRange::Of(kHigh, 2_MiB), /*chunk=*/0));
  TorchSegment& reservation =
      segments_.Add(lane_, AddressRange::Of(kLow, 40_MiB), /*chunk=*/20_MiB);
  EXPECT_TRUE(reservation.is_expandable());
  EXPECT_EQ(segments_.reservations(), 1U);
  EXPECT_EQ(segments_.reservations_given_up(), 0U);
  segments_.Remove(reservation);
  EXPECT_EQ(segments_.reservations(), 1U);
  EXPECT_EQ(segments_.reservations_given_up(), 1U);
}

class TorchSegmentsOfAHeapTest : public TorchHeapParts {};

TEST_F(TorchSegmentsOfAHeapTest, AddressFindsItsBlockAndWhetherItIsMapped) {
  TorchBlock& chunks = FreeChunks(Large(), 20_MiB, /*reservation=*/100_MiB);
  const DeviceAddress base = chunks.segment->base;
  Use(chunks, 4_MiB, 2_MiB);
  TorchSegments& segments = heap_.segments();
  EXPECT_EQ(segments.BlockAt(base + 4_MiB - 1)->address, base);
  EXPECT_EQ(segments.BlockAt(base + 4_MiB)->address, base + 4_MiB);
  EXPECT_EQ(segments.BlockAt(base + 6_MiB - 1)->address, base + 4_MiB);
  EXPECT_TRUE(segments.IsMapped(base + 20_MiB - 1));
  EXPECT_FALSE(segments.IsMapped(base + 20_MiB));
  EXPECT_FALSE(segments.IsMapped(base + 100_MiB));
  EXPECT_EQ(segments.BlockAt(base + 100_MiB), nullptr);
}

}  // namespace
}  // namespace memtrace::replay
