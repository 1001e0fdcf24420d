// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::replay {
namespace {

using ::testing::ElementsAre;

TEST(TorchSettingsTest, RequestsAreRoundedToUnitsOf512) {
  const TorchSettings settings;
  EXPECT_EQ(settings.Rounded(1), 512u);
  EXPECT_EQ(settings.Rounded(512), 512u);
  EXPECT_EQ(settings.Rounded(513), 1024u);
  EXPECT_EQ(settings.Rounded(5_MiB + 1), 5_MiB + 512);
}

// docs of PYTORCH_CUDA_ALLOC_CONF: 1200 with 4 divisions lies between 1024 and 2048, and is 1280.
TEST(TorchSettingsTest, DivisionsSplitTheRangeBetweenPowersOfTwo) {
  const auto settings = TorchSettings::Parse("roundup_power2_divisions:4");
  EXPECT_EQ(settings.Rounded(1200), 1536u) << "a small multiple of 512 is left alone";
  EXPECT_EQ(settings.Rounded(1200 << 10), 1280u << 10);
  EXPECT_EQ(settings.Rounded(1024 << 10), 1024u << 10);
  EXPECT_EQ(settings.Rounded(9_MiB), 10_MiB);
}

TEST(TorchSettingsTest, DivisionsBySizeAgreeWithTorch) {
  const auto settings = TorchSettings::Parse("roundup_power2_divisions:[64:8,256:4,>:2]");
  EXPECT_THAT(settings.divisions, ElementsAre(8, 8, 8, 8, 8, 8, 8, 0, 4, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_EQ(settings.Rounded(65_MiB), 72_MiB);
  EXPECT_EQ(settings.Rounded(129_MiB), 129_MiB) << "between two sizes that are named";
  EXPECT_EQ(settings.Rounded(600_MiB), 768_MiB);
}

TEST(TorchSettingsTest, SegmentsHaveThreeSizeClasses) {
  const TorchSettings settings;
  EXPECT_EQ(settings.SegmentFor(1_MiB), 2_MiB);
  EXPECT_EQ(settings.SegmentFor(1_MiB + 512), 20_MiB);
  EXPECT_EQ(settings.SegmentFor(10_MiB - 512), 20_MiB);
  EXPECT_EQ(settings.SegmentFor(10_MiB), 10_MiB);
  EXPECT_EQ(settings.SegmentFor(10_MiB + 512), 12_MiB);
  EXPECT_EQ(TorchSettings::Parse("large_segment_size_mb:40").SegmentFor(2_MiB), 40_MiB);
}

TEST(TorchSettingsTest, LargeBlockIsSplitIfMoreThanAMebibyteRemains) {
  const TorchSettings native;
  EXPECT_FALSE(native.Splits(19_MiB, 20_MiB, false));
  EXPECT_TRUE(native.Splits(19_MiB - 512, 20_MiB, false));
  EXPECT_TRUE(native.Splits(1_MiB - 512, 1_MiB, true));
  const auto expandable = TorchSettings::Parse("expandable_segments:True");
  EXPECT_TRUE(expandable.Splits(20_MiB - 512, 20_MiB, false));
  EXPECT_FALSE(expandable.Splits(20_MiB, 20_MiB, false));
}

TEST(TorchSettingsTest, OversizeBlocksServeOnlyOversizeRequests) {
  const auto settings = TorchSettings::Parse("max_split_size_mb:64, max_non_split_rounding_mb:30");
  EXPECT_TRUE(settings.Suits(2_MiB, 64_MiB - 512));
  EXPECT_FALSE(settings.Suits(2_MiB, 64_MiB));
  EXPECT_TRUE(settings.Suits(64_MiB, 94_MiB - 512));
  EXPECT_FALSE(settings.Suits(64_MiB, 94_MiB));
  EXPECT_FALSE(settings.Splits(64_MiB, 90_MiB, false));
}

TEST(TorchSettingsTest, OldestSegmentIsPreferredSince2_13) {
  EXPECT_TRUE(TorchSettings::HasOldestSegmentFirst("2.13.0+cu130"));
  EXPECT_TRUE(TorchSettings::HasOldestSegmentFirst("3.0.0"));
  EXPECT_FALSE(TorchSettings::HasOldestSegmentFirst("2.12.1"));
  EXPECT_FALSE(TorchSettings::HasOldestSegmentFirst("2.9.1+cu128"));
  EXPECT_FALSE(TorchSettings::HasOldestSegmentFirst("nightly"));
}

TEST(TorchSettingsTest, InvalidSettingsKeepTheirDefaults) {
  const auto settings = TorchSettings::Parse(
      "max_split_size_mb:many,,garbage_collection_threshold:0.5,roundup_power2_divisions:[x,"
      "per_process_memory_fraction:");
  EXPECT_EQ(settings.max_split, TorchSettings::kNoLimit);
  EXPECT_EQ(settings.gc_threshold, 0.5);
  EXPECT_EQ(settings.fraction, 1.0);
  EXPECT_EQ(settings.Rounded(5_MiB), 5_MiB);
}

}  // namespace
}  // namespace memtrace::replay
