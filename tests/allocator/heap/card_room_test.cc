// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/card_room.h"

#include <gtest/gtest.h>

#include <memory>

#include "allocator/card/memory_vmm.h"
#include "allocator/segment/expandable_segment.h"

namespace memtrace {
namespace {

constexpr Bytes kUnlimited = ~Bytes{0};

class CardRoomTest : public ::testing::Test {
 protected:
  // Maps `size` more bytes.
  void Map(Bytes size) {
    const auto growth = segment_->blocks().holes().PlanGrowth(size + mapped_);
    ASSERT_TRUE(growth.has_value());
    ASSERT_TRUE(segment_->Grow(*growth).ok());
    mapped_ += size;
  }
  uint64_t Looks() const { return failures_.calls(DriverCall::kMemoryInfo); }

  CallFailures failures_;
  MemoryVmm vmm_{{.capacity = 64_MiB, .used_by_others = 10_MiB}, nullptr, &failures_};
  AllocationObserver silent_;
  MappingAccount account_{DeviceIndex{0}, silent_};
  BlockArena arena_;
  std::unique_ptr<ExpandableSegment> segment_ =
      ExpandableSegment::Reserve({}, {72_MiB, 2_MiB}, vmm_, arena_, account_).value();
  CardRoom room_{kUnlimited, vmm_, account_};
  Bytes mapped_ = 0;
};

TEST_F(CardRoomTest, NothingIsLeftBeforeTheFirstLook) {
  EXPECT_EQ(room_.Remaining(), 0u);
  EXPECT_EQ(room_.RemainingUnderLimit(), kUnlimited);
  EXPECT_EQ(Looks(), 0u);
}

TEST_F(CardRoomTest, UsableIsFreePlusMappedMemory) {
  Map(20_MiB);
  const auto card = room_.QueryDriver();
  ASSERT_TRUE(card.ok());
  EXPECT_EQ(card->free, 34_MiB);
  EXPECT_EQ(card->total, 64_MiB);
  EXPECT_EQ(room_.usable(), 54_MiB);
  EXPECT_EQ(room_.Remaining(), 34_MiB);
}

TEST_F(CardRoomTest, MappingAfterALookIsCountedWithoutAnother) {
  ASSERT_TRUE(room_.QueryDriver().ok());
  Map(20_MiB);
  EXPECT_EQ(room_.Remaining(), 34_MiB);
  ASSERT_TRUE(segment_->Trim(kUnlimited).ok());
  EXPECT_EQ(room_.Remaining(), 54_MiB);
  EXPECT_EQ(Looks(), 1u);
}

TEST_F(CardRoomTest, MemoryTakenByOthersIsSeenAtTheNextLook) {
  ASSERT_TRUE(room_.QueryDriver().ok());
  const auto taken = vmm_.Create(30_MiB);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(room_.Remaining(), 54_MiB);
  ASSERT_TRUE(room_.QueryDriver().ok());
  EXPECT_EQ(room_.Remaining(), 24_MiB);
}

TEST_F(CardRoomTest, LimitBoundsWhatIsLeft) {
  ASSERT_TRUE(room_.QueryDriver().ok());
  room_.SetLimit(32_MiB);
  EXPECT_EQ(room_.limit(), 32_MiB);
  EXPECT_EQ(room_.Remaining(), 32_MiB);
  Map(20_MiB);
  EXPECT_EQ(room_.RemainingUnderLimit(), 12_MiB);
  EXPECT_EQ(room_.Remaining(), 12_MiB);
}

TEST_F(CardRoomTest, LimitBelowMappedMemoryLeavesNothing) {
  Map(20_MiB);
  ASSERT_TRUE(room_.QueryDriver().ok());
  room_.SetLimit(4_MiB);
  EXPECT_EQ(room_.RemainingUnderLimit(), 0u);
  EXPECT_EQ(room_.Remaining(), 0u);
}

TEST_F(CardRoomTest, FailedLookKeepsTheLastValues) {
  ASSERT_TRUE(room_.QueryDriver().ok());
  failures_.FailNth(DriverCall::kMemoryInfo, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("injected"));
  EXPECT_FALSE(room_.QueryDriver().ok());
  EXPECT_EQ(room_.usable(), 54_MiB);
}

}  // namespace
}  // namespace memtrace
