// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/known_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::card {
namespace {

class KnownRangesTest : public ::testing::Test {
 protected:
  using Extents = std::vector<Extent>;

  // Returns a character for each byte: '.' unknown, 'a' assumed, 'k' known.
  std::string Bytes(std::uint64_t count) const {
    std::string bytes;
    for (std::uint64_t at = 0; at < count; ++at) {
      bytes += ".ak"[static_cast<int>(known_.Weakest(Extents{{at, 1}}))];
    }
    return bytes;
  }

  void Set(std::uint64_t begin, std::uint64_t bytes, Known known) {
    known_.Set(Extents{{begin, bytes}}, known);
  }

  KnownRanges known_;
};

TEST_F(KnownRangesTest, LaterStatesOverrideByteByByte) {
  Set(2, 6, Known::kKnown);
  Set(4, 2, Known::kAssumed);
  Set(5, 4, Known::kUnknown);
  EXPECT_EQ(Bytes(10), "..kka.....");
}

TEST_F(KnownRangesTest, AssumingFillsGapsAndKeepsKnownBytes) {
  Set(0, 3, Known::kKnown);
  Set(4, 2, Known::kKnown);
  Set(7, 1, Known::kAssumed);
  known_.Assume(Extents{{2, 7}, {12, 2}});
  EXPECT_EQ(Bytes(15), "kkkakkaaa...aa.");
}

TEST_F(KnownRangesTest, RangeWrittenInPiecesIsKnownAsAWhole) {
  Set(4, 4, Known::kKnown);
  Set(0, 4, Known::kKnown);
  Set(8, 2, Known::kKnown);
  EXPECT_EQ(known_.Weakest(Extents{{0, 10}}), Known::kKnown);
  EXPECT_EQ(known_.Weakest(Extents{{0, 11}}), Known::kUnknown);
}

TEST_F(KnownRangesTest, WeakestByteDecides) {
  Set(0, 4, Known::kKnown);
  Set(4, 4, Known::kAssumed);
  EXPECT_EQ(known_.Weakest(Extents{{0, 8}}), Known::kAssumed);
  EXPECT_EQ(known_.Weakest(Extents{{0, 4}, {100, 1}}), Known::kUnknown);
}

TEST_F(KnownRangesTest, CopyCarriesKnownStatesAcrossExtents) {
  Set(0, 3, Known::kKnown);
  Set(3, 1, Known::kAssumed);
  Set(10, 8, Known::kKnown);  // the target's old state
  known_.Copy(Extents{{10, 2}, {14, 4}}, Extents{{0, 6}});
  EXPECT_EQ(Bytes(18), "kkka......kkkkka..");
}

TEST_F(KnownRangesTest, ForgetAllMakesEverythingUnknown) {
  Set(0, 5, Known::kKnown);
  known_.ForgetAll();
  EXPECT_EQ(Bytes(5), ".....");
}

}  // namespace
}  // namespace memtrace::card
