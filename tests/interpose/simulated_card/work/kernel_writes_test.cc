// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/kernel_writes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

class KernelWritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HandleId handle = 0;
    ASSERT_EQ(space_.Reserve(4_MiB, 0, Address(), &begin_), Result::kSuccess);
    ASSERT_EQ(machine_.physical.Create(0, 4_MiB, ChargeKind::kVmm, &handle), Result::kSuccess);
    ASSERT_EQ(space_.Map(begin_, 4_MiB, 0, handle), Result::kSuccess);
    ASSERT_EQ(space_.SetAccess(begin_, 4_MiB, 0, Access::kReadWrite), Result::kSuccess);
    known_.Set(ExtentsOf(0, 4_MiB), Known::kKnown);
  }

  std::vector<Extent> ExtentsOf(std::uint64_t offset, std::uint64_t bytes) {
    std::vector<Extent> extents;
    EXPECT_EQ(space_.Translate(begin_ + offset, bytes, Access::kRead, &extents), Result::kSuccess);
    return extents;
  }

  bool IsKnown(std::uint64_t offset, std::uint64_t bytes) {
    return known_.Weakest(ExtentsOf(offset, bytes)) == Known::kKnown;
  }

  void HandOut(std::uint64_t offset, std::uint64_t bytes) {
    writes_.HandOut(begin_ + offset, bytes);
  }

  void Give(std::uint64_t offset) {
    const std::array<Address, 1> given = {begin_ + offset};
    writes_.MayWriteThrough(given);
  }

  Machine machine_ = Machine({{.bytes = 1_GiB}}, 64_MiB);
  AddressSpace& space_ = machine_.space;
  KnownRanges known_;
  KernelWrites writes_{machine_.space, machine_.file, known_};
  Address begin_;
};

TEST_F(KernelWritesTest, OnlyBlocksPassedToAKernelAreForgotten) {
  HandOut(0, 512);
  HandOut(512, 1024);
  HandOut(1536, 512);
  Give(700);
  EXPECT_TRUE(IsKnown(0, 512));
  EXPECT_EQ(known_.Weakest(ExtentsOf(512, 4)), Known::kUnknown);
  EXPECT_EQ(known_.Weakest(ExtentsOf(1535, 1)), Known::kUnknown);
  EXPECT_TRUE(IsKnown(1536, 512));
}

TEST_F(KernelWritesTest, UnknownMemoryIsOneBlockPerMapping) {
  Give(0);
  EXPECT_FALSE(IsKnown(4_MiB - 1, 1));
}

TEST_F(KernelWritesTest, NewBlockReplacesOverlappingOnes) {
  HandOut(0, 4096);
  HandOut(1024, 512);
  Give(1024);
  EXPECT_FALSE(IsKnown(1024, 512));
  EXPECT_TRUE(IsKnown(2048, 512)) << "of a block that is gone";
}

TEST_F(KernelWritesTest, PointerTableIsFollowedAtEachLaunch) {
  HandOut(0, 512);
  HandOut(512, 512);
  HandOut(1024, 512);
  const std::array<Address, 2> table = {begin_ + 520, Address{7}};
  ASSERT_TRUE(machine_.file.Write(ExtentsOf(0, 16)[0].offset, std::as_bytes(std::span(table))));
  for (int launch = 0; launch < 2; ++launch) {
    known_.Set(ExtentsOf(512, 1024), Known::kKnown);
    Give(0);
    EXPECT_FALSE(IsKnown(512, 512)) << launch;
    EXPECT_TRUE(IsKnown(1024, 512)) << launch;
  }
}

TEST_F(KernelWritesTest, KernelWithUnknownParametersForgetsEverything) {
  HandOut(0, 512);
  writes_.MayWriteAnything();
  EXPECT_FALSE(IsKnown(0, 1));
  EXPECT_FALSE(IsKnown(1_MiB, 1));
}

TEST_F(KernelWritesTest, ValuesThatAreNotAddressesChangeNothing) {
  const std::array<Address, 3> given = {Address(), Address{64}, AddressRanges::kEnd};
  writes_.MayWriteThrough(given);
  EXPECT_TRUE(IsKnown(0, 4_MiB));
}

}  // namespace
}  // namespace memtrace::card
