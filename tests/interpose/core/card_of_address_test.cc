// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/card_of_address.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(CardOfAddressTest, AddressIsOnTheCardOfItsSegment) {
  CardOfAddress cards;
  EXPECT_EQ(cards.Find(DeviceAddress{0x1000}), -1);
  cards.Add(DeviceAddress{0x3000}, 0x1000, 1);
  cards.Add(DeviceAddress{0x1000}, 0x1000, 0);
  EXPECT_EQ(cards.Find(DeviceAddress{0xfff}), -1);
  EXPECT_EQ(cards.Find(DeviceAddress{0x1000}), 0);
  EXPECT_EQ(cards.Find(DeviceAddress{0x1fff}), 0);
  EXPECT_EQ(cards.Find(DeviceAddress{0x2000}), -1);
  EXPECT_EQ(cards.Find(DeviceAddress{0x3fff}), 1);
  EXPECT_EQ(cards.Find(DeviceAddress{0x4000}), -1);
}

TEST(CardOfAddressTest, NewSegmentReplacesOverlappingOnes) {
  CardOfAddress cards;
  cards.Add(DeviceAddress{0x1000}, 0x1000, 0);
  cards.Add(DeviceAddress{0x2000}, 0x1000, 0);
  cards.Add(DeviceAddress{0x1800}, 0x1000, 1);
  EXPECT_EQ(cards.Find(DeviceAddress{0x1000}), -1);
  EXPECT_EQ(cards.Find(DeviceAddress{0x1800}), 1);
  EXPECT_EQ(cards.Find(DeviceAddress{0x2fff}), -1);
}

}  // namespace
}  // namespace memtrace
