// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/outside_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using trace::OutsideKind;

// Notes "+1:5" when block 1 of 5 MiB is taken, "-1:5" when it is given back.
class Listener final : public OutsideListener {
 public:
  void Taken(const OutsideBlock& block) override { Add('+', block); }
  void GivenBack(const OutsideBlock& block) override { Add('-', block); }
  std::vector<std::string> TakeHeard() { return std::exchange(heard_, {}); }

 private:
  void Add(char sign, const OutsideBlock& block) {
    heard_.push_back(sign + std::to_string(block.address) + ":" +
                     std::to_string(block.bytes / 1_MiB));
  }
  std::vector<std::string> heard_;
};

class OutsideMemoryTest : public ::testing::Test {
 protected:
  OutsideMemoryTest() { memory_.SetListener(&listener_); }

  void Take(uint64_t address, Bytes bytes, OutsideKind kind = OutsideKind::kDevice,
            int device = 0) {
    memory_.Taken({.kind = kind, .device = device, .address = address, .bytes = bytes});
  }

  Listener listener_;
  OutsideMemory memory_;
};

TEST_F(OutsideMemoryTest, SumsExcludeHostAndManagedMemory) {
  Take(1, 5_MiB);
  Take(2, 6_MiB, OutsideKind::kStreamOrdered, 1);
  Take(3, 7_MiB, OutsideKind::kHost);
  Take(4, 8_MiB, OutsideKind::kManaged);
  EXPECT_EQ(memory_.on_card(0), 5_MiB);
  EXPECT_EQ(memory_.on_card(1), 6_MiB);
  EXPECT_EQ(memory_.on_card(2), 0u);
  EXPECT_TRUE(memory_.GivenBack(1).has_value());
  EXPECT_EQ(memory_.on_card(0), 0u);
}

TEST_F(OutsideMemoryTest, SecondFreeIsUnknown) {
  Take(1, 5_MiB);
  EXPECT_EQ(memory_.GivenBack(1)->bytes, 5_MiB);
  EXPECT_FALSE(memory_.GivenBack(1).has_value());
  EXPECT_THAT(listener_.TakeHeard(), ElementsAre("+1:5", "-1:5"));
}

TEST_F(OutsideMemoryTest, ReusedAddressEndsTheEarlierBlock) {
  Take(1, 5_MiB);
  Take(1, 6_MiB);
  EXPECT_THAT(listener_.TakeHeard(), ElementsAre("+1:5", "-1:5", "+1:6"));
  EXPECT_EQ(memory_.on_card(0), 6_MiB);
}

TEST_F(OutsideMemoryTest, PhysicalMemoryLivesUntilReleasedAndUnmapped) {
  Take(9, 8_MiB, OutsideKind::kPhysical);
  memory_.Retained(9);
  memory_.Mapped(9, DeviceAddress{0x1000}, 8_MiB);
  memory_.Released(9);
  memory_.Released(9);
  EXPECT_EQ(memory_.on_card(0), 8_MiB);
  // This is only a part of the mapping, which the driver refuses.
  memory_.Unmapped(DeviceAddress{0x1000}, 4_MiB);
  EXPECT_EQ(memory_.on_card(0), 8_MiB);
  memory_.Unmapped(DeviceAddress{0x1000}, 8_MiB);
  EXPECT_EQ(memory_.on_card(0), 0u);
}

TEST_F(OutsideMemoryTest, HandlesAndAddressesAreDistinct) {
  Take(9, 8_MiB, OutsideKind::kPhysical);
  Take(9, 1_MiB);
  EXPECT_TRUE(memory_.GivenBack(9).has_value());
  EXPECT_EQ(memory_.on_card(0), 8_MiB);
}

TEST_F(OutsideMemoryTest, SegmentsOfAnotherAllocatorAreNotOutside) {
  Take(0x1000, 5_MiB);
  Take(9, 8_MiB, OutsideKind::kPhysical);
  Take(10, 8_MiB, OutsideKind::kPhysical);
  memory_.Mapped(9, DeviceAddress{0x10000000}, 8_MiB);
  memory_.Mapped(10, DeviceAddress{0x20000000}, 8_MiB);
  memory_.Claim(DeviceAddress{0x1000}, 5_MiB);
  memory_.Claim(DeviceAddress{0x10000000}, 8_MiB);
  EXPECT_EQ(memory_.on_card(0), 8_MiB);
  memory_.Unmapped(DeviceAddress{0x10000000}, 8_MiB);
  memory_.Released(9);
  EXPECT_EQ(memory_.on_card(0), 8_MiB);
}

TEST_F(OutsideMemoryTest, ResetEndsOnlyTheBlocksOfItsCard) {
  Take(1, 5_MiB);
  Take(2, 6_MiB, OutsideKind::kDevice, 1);
  Take(3, 7_MiB, OutsideKind::kHost);
  memory_.Reset(0);
  EXPECT_EQ(memory_.on_card(0), 0u);
  EXPECT_EQ(memory_.on_card(1), 6_MiB);
  EXPECT_TRUE(memory_.GivenBack(3).has_value());
}

TEST_F(OutsideMemoryTest, NewListenerReceivesAllExistingMemory) {
  Take(1, 5_MiB);
  listener_.TakeHeard();
  Listener next;
  memory_.SetListener(&next);
  EXPECT_THAT(listener_.TakeHeard(), ElementsAre("-1:5"));
  EXPECT_THAT(next.TakeHeard(), ElementsAre("+1:5"));
  memory_.GivenBack(1);
  EXPECT_THAT(listener_.TakeHeard(), IsEmpty());
  EXPECT_THAT(next.TakeHeard(), ElementsAre("-1:5"));
}

}  // namespace
}  // namespace memtrace
