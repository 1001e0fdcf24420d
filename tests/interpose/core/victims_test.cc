// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace memtrace {
namespace {

using recorder::PlacedBlock;
using testing::ElementsAre;
using testing::IsEmpty;
using trace::Phase;
using trace::Role;

constexpr DeviceAddress kWeight{0x10'0000}, kState{0x20'0000}, kGradient{0x30'0000};
constexpr DeviceAddress kOldActivation{0x40'0000}, kActivation{0x50'0000};

PlacedBlock Block(DeviceAddress address, Role role, uint64_t birth) {
  return {address, {.requested = 64_KiB, .allocated = 64_KiB, .birth = birth, .role = role}};
}

// In no order, as the recorder's table.
const std::vector<PlacedBlock>& Blocks() {
  static const auto& blocks = *new std::vector<PlacedBlock>{
      Block(kActivation, Role::kActivation, 9), Block(kWeight, Role::kParameter, 1),
      Block(kGradient, Role::kGradient, 7), Block(kState, Role::kOptimizerState, 3),
      Block(kOldActivation, Role::kActivation, 5)};
  return blocks;
}

TEST(VictimsTest, OutsideTheOptimizerStatesMoveBeforeTheOldestActivations) {
  const VictimClasses classes = ChooseVictims(Blocks(), Phase::kForward);
  EXPECT_THAT(classes.roles, ElementsAre(Role::kOptimizerState, Role::kActivation));
  EXPECT_THAT(classes.blocks,
              ElementsAre(ElementsAre(kState), ElementsAre(kOldActivation, kActivation)));
}

TEST(VictimsTest, InTheOptimizerActivationsMoveBeforeStatesAndGradients) {
  EXPECT_THAT(ChooseVictims(Blocks(), Phase::kOptimizer).roles,
              ElementsAre(Role::kActivation, Role::kOptimizerState, Role::kGradient));
}

TEST(VictimsTest, IdleModelsMoveBeforeAllOthersInTheirOrder) {
  for (const Phase phase : {Phase::kForward, Phase::kOptimizer}) {
    const VictimClasses classes = ChooseVictims(Blocks(), phase, {{}, {kWeight}, {kGradient}});
    ASSERT_GE(classes.blocks.size(), 2);
    EXPECT_THAT(classes.blocks[0], ElementsAre(kWeight));
    EXPECT_THAT(classes.blocks[1], ElementsAre(kGradient));
    EXPECT_EQ(classes.roles[0], Role::kParameter);
    EXPECT_EQ(classes.roles.size(), classes.blocks.size());
  }
}

TEST(VictimsTest, BlocksAreFoundByAnyAddressInThem) {
  EXPECT_THAT(BlocksThatContain(Blocks(), {kState + 512, kWeight, kWeight + 1024}),
              ElementsAre(kWeight, kState));
  EXPECT_THAT(BlocksThatContain(Blocks(), {kState + 64_KiB, DeviceAddress{1}}), IsEmpty());
}

}  // namespace
}  // namespace memtrace
