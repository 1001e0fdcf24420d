// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace memtrace {
namespace {

using recorder::PlacedBlock;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
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

std::vector<Role> RolesOf(const VictimClasses& classes) {
  std::vector<Role> roles;
  roles.reserve(classes.kinds.size());
  for (const VictimKind& kind : classes.kinds) roles.push_back(kind.role);
  return roles;
}

constexpr trace::StringId kEngine = 7, kStore = 8;
constexpr DeviceAddress kCache{0x60'0000}, kTable{0x70'0000}, kEngineWeight{0x80'0000};

// The blocks above, an engine's weight and cache, and a table of another owner. All three may move.
std::vector<PlacedBlock> WithOwners() {
  std::vector<PlacedBlock> blocks = Blocks();
  blocks.push_back(Block(kCache, Role::kKvCache, 4));
  blocks.push_back(Block(kTable, Role::kUnknown, 2));
  blocks.push_back(Block(kEngineWeight, Role::kParameter, 3));
  blocks[5].block.owner = blocks[7].block.owner = kEngine;
  blocks[6].block.owner = kStore;
  return blocks;
}
const std::vector<DeviceAddress>& Movable() {
  static const auto& movable = *new std::vector<DeviceAddress>{kCache, kTable, kEngineWeight};
  return movable;
}

VictimClasses ChooseWithOwners(Phase phase, const IdleModels& idle) {
  return ChooseVictims(WithOwners(), phase, idle, Movable());
}

std::vector<trace::StringId> OwnersOf(const VictimClasses& classes) {
  std::vector<trace::StringId> owners;
  owners.reserve(classes.kinds.size());
  for (const VictimKind& kind : classes.kinds) owners.push_back(kind.owner);
  return owners;
}

TEST(VictimsTest, OwnersWithoutAModelMoveAfterIdleModelsTheLongestUnchangedFirst) {
  const VictimClasses classes = ChooseWithOwners(Phase::kForward, {{kEngineWeight}});
  EXPECT_THAT(OwnersOf(classes), ElementsAre(0, kStore, kEngine, 0, 0));
  ASSERT_EQ(classes.blocks.size(), 5);
  EXPECT_THAT(classes.blocks[0], ElementsAre(kEngineWeight));
  EXPECT_THAT(classes.blocks[1], ElementsAre(kTable));
  EXPECT_THAT(classes.blocks[2], ElementsAre(kCache));
}

TEST(VictimsTest, TheCacheOfAModelThatIsNotIdleMovesLastAndItsWeightsStay) {
  const VictimClasses classes = ChooseWithOwners(Phase::kForward, {});
  EXPECT_THAT(OwnersOf(classes), ElementsAre(kStore, 0, 0, kEngine));
  for (const std::vector<DeviceAddress>& blocks : classes.blocks)
    EXPECT_THAT(blocks, Not(Contains(kEngineWeight)));
}

TEST(VictimsTest, WhileTheProgramInfersOwnersWithoutAModelMoveLast) {
  for (const Phase phase : {Phase::kGenerate, Phase::kEvaluate})
    EXPECT_THAT(OwnersOf(ChooseWithOwners(phase, {{kEngineWeight}})),
                ElementsAre(0, 0, 0, kStore, kEngine));
}

TEST(VictimsTest, MemoryOfNoRoleStaysUnlessItsOwnerIsMovable) {
  EXPECT_THAT(OwnersOf(ChooseVictims(WithOwners(), Phase::kForward)), ElementsAre(0, 0));
}

TEST(VictimsTest, OutsideTheOptimizerStatesMoveBeforeTheOldestActivations) {
  const VictimClasses classes = ChooseVictims(Blocks(), Phase::kForward);
  EXPECT_THAT(RolesOf(classes), ElementsAre(Role::kOptimizerState, Role::kActivation));
  EXPECT_THAT(classes.blocks,
              ElementsAre(ElementsAre(kState), ElementsAre(kOldActivation, kActivation)));
}

TEST(VictimsTest, InTheOptimizerActivationsMoveBeforeStatesAndGradients) {
  EXPECT_THAT(RolesOf(ChooseVictims(Blocks(), Phase::kOptimizer)),
              ElementsAre(Role::kActivation, Role::kOptimizerState, Role::kGradient));
}

TEST(VictimsTest, IdleModelsMoveBeforeAllOthersInTheirOrder) {
  for (const Phase phase : {Phase::kForward, Phase::kOptimizer}) {
    const VictimClasses classes = ChooseVictims(Blocks(), phase, {{}, {kWeight}, {kGradient}});
    ASSERT_GE(classes.blocks.size(), 2);
    EXPECT_THAT(classes.blocks[0], ElementsAre(kWeight));
    EXPECT_THAT(classes.blocks[1], ElementsAre(kGradient));
    EXPECT_EQ(classes.kinds[0].role, Role::kParameter);
    EXPECT_EQ(classes.kinds.size(), classes.blocks.size());
  }
}

TEST(VictimsTest, BlocksAreFoundByAnyAddressInThem) {
  EXPECT_THAT(BlocksThatContain(Blocks(), {kState + 512, kWeight, kWeight + 1024}),
              ElementsAre(kWeight, kState));
  EXPECT_THAT(BlocksThatContain(Blocks(), {kState + 64_KiB, DeviceAddress{1}}), IsEmpty());
}

}  // namespace
}  // namespace memtrace
