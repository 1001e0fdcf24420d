// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/live_table.h"

#include <gtest/gtest.h>

namespace memtrace::recorder {
namespace {

using trace::Role;

constexpr DeviceIndex kCard0{0};
constexpr DeviceIndex kCard1{1};

TEST(LiveTableTest, FreedBlockIsForgotten) {
  LiveTable table;
  table.Add(kCard0, DeviceAddress{0x1000}, {.requested = 500});
  ASSERT_NE(table.Find(kCard0, DeviceAddress{0x1000}), nullptr);
  EXPECT_EQ(table.Find(kCard1, DeviceAddress{0x1000}), nullptr);
  table.Remove(kCard0, DeviceAddress{0x1000});
  EXPECT_EQ(table.Find(kCard0, DeviceAddress{0x1000}), nullptr);
  table.Remove(kCard0, DeviceAddress{0x1000});
  EXPECT_EQ(table.size(), 0U);
}

TEST(LiveTableTest, LabelOfAWholeBlockIsNewOnlyIfItDiffers) {
  LiveTable table;
  table.Add(kCard0, DeviceAddress{0x1000}, {.requested = 500, .owner = 3});
  const trace::Label parameter{.role = Role::kParameter, .path = 8};
  EXPECT_TRUE(table.Relabel(kCard0, DeviceAddress{0x1000}, 500, parameter));
  EXPECT_FALSE(table.Relabel(kCard0, DeviceAddress{0x1000}, 512, parameter));
  EXPECT_EQ(table.Find(kCard0, DeviceAddress{0x1000})->owner, 3U);
  EXPECT_TRUE(
      table.Relabel(kCard0, DeviceAddress{0x1000}, 500, {.role = Role::kParameter, .path = 9}));
  EXPECT_TRUE(table.Relabel(kCard0, DeviceAddress{0x1000}, 500,
                            {.role = Role::kParameter, .owner = 4, .path = 9}));
}

TEST(LiveTableTest, EmptyFieldOfALabelKeepsTheEarlierValue) {
  LiveTable table;
  table.Add(kCard0, DeviceAddress{0x1000}, {.requested = 500});
  table.Relabel(kCard0, DeviceAddress{0x1000}, 500,
                {.role = Role::kParameter, .owner = 3, .path = 8});
  EXPECT_TRUE(table.Relabel(kCard0, DeviceAddress{0x1000}, 500, {.role = Role::kGradient}));
  EXPECT_FALSE(table.Relabel(kCard0, DeviceAddress{0x1000}, 500, {.role = Role::kGradient}));
  EXPECT_TRUE(table.Relabel(kCard0, DeviceAddress{0x1000}, 500, {.owner = 4}));
  EXPECT_EQ(table.Find(kCard0, DeviceAddress{0x1000})->role, Role::kGradient);
  EXPECT_EQ(table.Find(kCard0, DeviceAddress{0x1000})->owner, 4U);
  EXPECT_EQ(table.Find(kCard0, DeviceAddress{0x1000})->path, 8U);
}

TEST(LiveTableTest, LabelsOfPartsAreAlwaysNewAndDoNotChangeTheBlock) {
  LiveTable table;
  table.Add(kCard0, DeviceAddress{0x1000}, {.requested = 500});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(table.Relabel(kCard0, DeviceAddress{0x1000}, 100, {.role = Role::kGradient}));
    EXPECT_TRUE(table.Relabel(kCard0, DeviceAddress{0x1100}, 100, {.role = Role::kGradient}));
  }
  EXPECT_EQ(table.Find(kCard0, DeviceAddress{0x1000})->role, Role::kUnknown);
}

TEST(LiveTableTest, LargestGroupsAreSummedByRoleAndOwnerPerCard) {
  LiveTable table;
  table.Add(kCard0, DeviceAddress{0x1000}, {.requested = 100, .role = Role::kParameter});
  table.Add(kCard0, DeviceAddress{0x2000}, {.requested = 100, .role = Role::kParameter});
  table.Add(kCard0, DeviceAddress{0x3000},
            {.requested = 150, .owner = 5, .role = Role::kParameter});
  table.Add(kCard0, DeviceAddress{0x4000}, {.requested = 10, .phase = trace::Phase::kForward});
  table.Add(kCard1, DeviceAddress{0x1000}, {.requested = 999});
  const auto groups = table.LargestGroups(kCard0, 2);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].bytes, 200U);
  EXPECT_EQ(groups[0].owner, 0U);
  EXPECT_EQ(groups[1].bytes, 150U);
  EXPECT_EQ(table.LargestGroups(kCard0, 9)[2].role, Role::kActivation);
}

}  // namespace
}  // namespace memtrace::recorder
