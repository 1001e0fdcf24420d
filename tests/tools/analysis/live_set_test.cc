// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/live_set.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

using trace::Role;

class LiveSetTest : public testing::Test {
 protected:
  template <typename Payload>
  void Happens(const Payload& payload) {
    live_.Apply({.payload = payload});
  }
  void Allocate(uint64_t address, uint64_t requested) {
    Happens(trace::Allocate{.address = address, .requested = requested, .allocated = requested});
  }
  void Label(uint64_t address, uint64_t size, Role role) {
    Happens(trace::Relabel{.address = address, .size = size, .role = role});
  }

  LiveSet live_;
};

TEST_F(LiveSetTest, LabelAfterTheMomentAppliesToTheCapturedBlock) {
  Allocate(512, 100);
  const auto captured = live_.Capture(0);
  Label(512, 100, Role::kParameter);
  ASSERT_EQ(live_.Labels(captured[0].id).size(), 1U);
  EXPECT_EQ(live_.Labels(captured[0].id)[0].label.role, Role::kParameter);
}

TEST_F(LiveSetTest, LabelsOfACapturedBlockSurviveReuseOfItsAddress) {
  Allocate(512, 100);
  const auto captured = live_.Capture(0);
  Label(512, 100, Role::kGradient);
  Happens(trace::FreeCompleted{.address = 512});
  Allocate(512, 100);
  Label(512, 100, Role::kComm);
  ASSERT_EQ(live_.Labels(captured[0].id).size(), 1U);
  EXPECT_EQ(live_.Labels(captured[0].id)[0].label.role, Role::kGradient);
  EXPECT_TRUE(live_.block(captured[0].id).freed);
}

TEST_F(LiveSetTest, LabelInsideABlockCoversOnlyThatPart) {
  Allocate(512, 100);
  Label(532, 1000, Role::kParameter);
  const auto labels = live_.Labels(live_.Capture(0)[0].id);
  ASSERT_EQ(labels.size(), 1U);
  EXPECT_EQ(labels[0].begin, 532U);
  EXPECT_EQ(labels[0].end, 612U);
}

TEST_F(LiveSetTest, LabelWithoutSizeCoversTheRestOfTheBlock) {
  Allocate(512, 100);
  Label(512, 0, Role::kParameter);
  Label(600, 0, Role::kGradient);
  const auto labels = live_.Labels(live_.Capture(0)[0].id);
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels[0].end, 600U);
  EXPECT_EQ(labels[1].end, 612U);
}

TEST_F(LiveSetTest, LabelBetweenBlocksIsIgnored) {
  Allocate(512, 100);
  Label(700, 100, Role::kParameter);
  EXPECT_TRUE(live_.Labels(live_.Capture(0)[0].id).empty());
}

TEST_F(LiveSetTest, FreedBlockWaitsUntilCompletion) {
  Allocate(512, 100);
  Happens(trace::FreeRequested{.address = 512});
  EXPECT_TRUE(live_.Capture(0)[0].waiting);
  Happens(trace::FreeCompleted{.address = 512});
  EXPECT_TRUE(live_.Capture(0).empty());
}

TEST_F(LiveSetTest, ReusedAddressReplacesTheBlockWithALostFree) {
  Allocate(512, 100);
  Allocate(512, 200);
  const auto captured = live_.Capture(0);
  ASSERT_EQ(captured.size(), 1U);
  EXPECT_EQ(live_.block(captured[0].id).allocation.requested, 200U);
}

TEST_F(LiveSetTest, CardsDoNotMix) {
  Allocate(512, 100);
  Happens(trace::Allocate{.device = 1, .address = 512, .requested = 7});
  EXPECT_EQ(live_.Capture(1).size(), 1U);
  Happens(trace::FreeCompleted{.device = 1, .address = 512});
  EXPECT_EQ(live_.Capture(0).size(), 1U);
}

}  // namespace
}  // namespace memtrace::analysis
