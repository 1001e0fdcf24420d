// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/block_uses.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "tests/profiler/recorder/recorder_fixture.h"

namespace memtrace::recorder {
namespace {

constexpr DeviceAddress kUsed{0x10'0000}, kOther{0x20'0000};

class BlockUsesTest : public testing::Test {
 protected:
  void Use(DeviceAddress address) { uses().Note(std::array{address.value()}); }
  BlockUses& uses() { return run_.recorder().uses(); }

  // Returns the block in use there, with its last use.
  PlacedBlock Find(DeviceAddress address) {
    trace::Phase phase{};
    std::vector<PlacedBlock> blocks = run_.recorder().blocks().BlocksInUse(DeviceIndex{0}, phase);
    step_ = uses().SetIn(blocks);
    for (const PlacedBlock& one : blocks)
      if (one.address == address) return one;
    return {};
  }

  RecordedRun run_;
  std::optional<uint64_t> step_;
};

TEST_F(BlockUsesTest, NothingIsKnownUnlessUsesAreFollowed) {
  run_.Allocate(kUsed, 64_KiB);
  Use(kUsed);
  EXPECT_EQ(Find(kUsed).use.sequence, 0U);
  EXPECT_FALSE(step_.has_value());
}

TEST_F(BlockUsesTest, UseHasItsStepAndComesAfterTheAllocation) {
  uses().Follow();
  run_.Allocate(kUsed, 64_KiB);
  run_.recorder().program().BeginStep();
  Use(kUsed);
  run_.recorder().program().BeginStep();
  run_.Allocate(kOther, 64_KiB);
  const PlacedBlock weight = Find(kUsed);
  EXPECT_EQ(weight.use.step, 1U);
  EXPECT_EQ(step_, 2U);
  EXPECT_GE(weight.use.sequence, weight.block.birth);
  EXPECT_LT(weight.use.sequence, Find(kOther).block.birth);
}

TEST_F(BlockUsesTest, NextBlockAtTheAddressIsNotUsed) {
  uses().Follow();
  run_.Allocate(kUsed, 64_KiB);
  Use(kUsed);
  run_.Free(kUsed, 64_KiB);
  run_.Allocate(kUsed, 64_KiB);
  EXPECT_EQ(Find(kUsed).use.sequence, 0U);
  Use(kUsed);
  EXPECT_GT(Find(kUsed).use.sequence, 0U);
}

TEST_F(BlockUsesTest, UseDuringACaptureIsOneOfAGraph) {
  uses().Follow();
  run_.Allocate(kUsed, 64_KiB);
  run_.Allocate(kOther, 64_KiB);
  uses().BeginCapture();
  Use(kUsed);
  uses().EndCapture();
  Use(kOther);
  EXPECT_TRUE(Find(kUsed).use.is_captured);
  EXPECT_FALSE(Find(kOther).use.is_captured);
}

TEST_F(BlockUsesTest, UseOfABlockInUseIsKeptWhenOthersAreForgotten) {
  uses().Follow();
  run_.Allocate(kUsed, 64_KiB);
  Use(kUsed);
  for (uint64_t i = 0; i < 3 * LastUses::kFewest; ++i) Use(DeviceAddress{0x100'0000 + i * 512});
  EXPECT_GT(Find(kUsed).use.sequence, 0U);
}

}  // namespace
}  // namespace memtrace::recorder
