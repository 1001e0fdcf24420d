// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/waiting_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace memtrace::recorder {
namespace {

using ::testing::UnorderedElementsAre;

constexpr DeviceIndex kFirstCard{0};
constexpr DeviceIndex kSecondCard{1};

class WaitingBlocksTest : public testing::Test {
 protected:
  void Add(DeviceAddress address, uint64_t sequence, DeviceIndex device = kFirstCard) {
    waiting_.Add({address, device}, {.block = {}, .at_request = {}, .sequence = sequence});
  }
  // Returns the sequence number of the request; 0 if no block waits there.
  uint64_t Take(DeviceAddress address, DeviceIndex device = kFirstCard) {
    const auto taken = waiting_.Take({address, device});
    return taken ? taken->sequence : 0;
  }
  std::vector<uint64_t> All() const {
    std::vector<uint64_t> all;
    waiting_.ForEach(
        [&](const WaitingBlocks::Key&, const FreedBlock& block) { all.push_back(block.sequence); });
    return all;
  }

  WaitingBlocks waiting_;
};

TEST_F(WaitingBlocksTest, EachBlockIsTakenOnceInAnyOrder) {
  Add(DeviceAddress{0x1000}, 1);
  Add(DeviceAddress{0x2000}, 2);
  Add(DeviceAddress{0x3000}, 3);
  EXPECT_THAT(All(), UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(Take(DeviceAddress{0x1000}), 1U);
  EXPECT_EQ(Take(DeviceAddress{0x3000}), 3U);
  EXPECT_EQ(Take(DeviceAddress{0x3000}), 0U);
  EXPECT_THAT(All(), UnorderedElementsAre(2));
  EXPECT_EQ(Take(DeviceAddress{0x2000}), 2U);
  EXPECT_EQ(Take(DeviceAddress{0x2000}), 0U);
}

TEST_F(WaitingBlocksTest, CardsHaveSeparateAddresses) {
  Add(DeviceAddress{0x1000}, 1);
  Add(DeviceAddress{0x1000}, 2, kSecondCard);
  EXPECT_EQ(Take(DeviceAddress{0x1000}), 1U);
  EXPECT_EQ(Take(DeviceAddress{0x1000}, kSecondCard), 2U);
}

// The completion was lost, and the address was given to another block.
TEST_F(WaitingBlocksTest, LatestRequestOfAnAddressCounts) {
  Add(DeviceAddress{0x1000}, 1);
  Add(DeviceAddress{0x2000}, 2);
  Add(DeviceAddress{0x1000}, 3);
  Add(DeviceAddress{0x4000}, 4);
  EXPECT_EQ(Take(DeviceAddress{0x1000}), 3U);
  EXPECT_THAT(All(), UnorderedElementsAre(2, 4));
}

}  // namespace
}  // namespace memtrace::recorder
