// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
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

// The blocks above, all allocated in step 1; `used` were last used in these steps.
VictimClasses ChooseInStep(uint64_t step,
                           const std::vector<std::pair<DeviceAddress, recorder::BlockUse>>& used,
                           Phase phase = Phase::kForward) {
  std::vector<PlacedBlock> blocks = WithOwners();
  for (PlacedBlock& one : blocks) {
    one.block.step = 1;
    for (const auto& [address, use] : used)
      if (one.address == address) one.use = use;
  }
  return ChooseVictims(blocks, phase, /*idle=*/{}, Movable(), step);
}

TEST(VictimsTest, UnusedBlocksOfAnyRoleMoveFirstThoseOfTheOldestStepFirst) {
  const VictimClasses classes = ChooseInStep(9, {{kWeight, {.sequence = 50, .step = 7}},
                                                 {kEngineWeight, {.sequence = 40, .step = 4}},
                                                 {kState, {.sequence = 60, .step = 8}},
                                                 {kGradient, {.sequence = 60, .step = 8}},
                                                 {kOldActivation, {.sequence = 70, .step = 9}},
                                                 {kActivation, {.sequence = 65, .step = 9}},
                                                 {kCache, {.sequence = 60, .step = 8}}});
  EXPECT_THAT(classes.blocks,
              ElementsAre(ElementsAre(kTable), ElementsAre(kEngineWeight), ElementsAre(kWeight),
                          ElementsAre(kTable), ElementsAre(kState),
                          ElementsAre(kActivation, kOldActivation), ElementsAre(kCache)));
  const VictimKind table{.owner = kStore, .is_unused = true};
  const VictimKind weight{.role = Role::kParameter, .is_unused = true};
  EXPECT_THAT(classes.kinds,
              ElementsAre(table, weight, weight, VictimKind{.owner = kStore},
                          VictimKind{.role = Role::kOptimizerState},
                          VictimKind{.role = Role::kActivation}, VictimKind{.owner = kEngine}));
}

TEST(VictimsTest, BlocksUsedOrAllocatedInThisStepOrTheLastAreNotUnused) {
  for (const uint64_t step : {uint64_t{1}, uint64_t{2}}) {
    for (const VictimKind& kind : ChooseInStep(step, {}).kinds)
      EXPECT_FALSE(kind.is_unused) << step;
  }
  EXPECT_THAT(ChooseInStep(3, {}).blocks, Contains(Contains(kWeight)));
  EXPECT_THAT(ChooseInStep(3, {{kWeight, {.sequence = 50, .step = 2}}}).blocks,
              testing::Each(Not(Contains(kWeight))));
}

TEST(VictimsTest, BlocksOfCapturedGraphsAreNeverUnused) {
  const recorder::BlockUse captured{.sequence = 50, .step = 2, .is_captured = true};
  EXPECT_THAT(ChooseInStep(9, {{kWeight, captured}}).blocks, testing::Each(Not(Contains(kWeight))));
}

TEST(VictimsTest, WorkspacesAndMemoryForCommunicationStayAlthoughNoOperationUsesThem) {
  for (const Role role : {Role::kWorkspace, Role::kComm}) {
    const std::vector<PlacedBlock> blocks = {Block(kWeight, role, 1)};
    EXPECT_THAT(ChooseVictims(blocks, Phase::kForward, {}, {}, 9).blocks, IsEmpty());
  }
}

TEST(VictimsTest, AnOwnerWithoutAModelThatWasUsedLatelyIsNotIdle) {
  // Without uses the table would be idle in training, and the cache's engine has a busy model.
  const VictimClasses classes = ChooseInStep(3, {{kTable, {.sequence = 50, .step = 3}},
                                                 {kState, {.sequence = 50, .step = 3}},
                                                 {kOldActivation, {.sequence = 50, .step = 3}},
                                                 {kActivation, {.sequence = 51, .step = 3}}});
  EXPECT_THAT(classes.blocks.back(), ElementsAre(kTable));
  EXPECT_FALSE(classes.kinds.back().is_unused);
  EXPECT_THAT(classes.blocks.front(), testing::AnyOf(Contains(kCache), Contains(kWeight)));
}

TEST(VictimsTest, WhileTheProgramInfersAnUnusedCacheMovesFirst) {
  const VictimClasses classes = ChooseInStep(
      9, {{kTable, {.sequence = 50, .step = 9}}, {kEngineWeight, {.sequence = 50, .step = 9}}},
      Phase::kGenerate);
  EXPECT_THAT(classes.blocks.back(), ElementsAre(kTable));
  EXPECT_THAT(classes.kinds, Contains(VictimKind{.owner = kEngine, .is_unused = true}));
}

TEST(VictimsTest, BlocksAreFoundByAnyAddressInThem) {
  EXPECT_THAT(BlocksThatContain(Blocks(), {kState + 512, kWeight, kWeight + 1024}),
              ElementsAre(kWeight, kState));
  EXPECT_THAT(BlocksThatContain(Blocks(), {kState + 64_KiB, DeviceAddress{1}}), IsEmpty());
}

}  // namespace
}  // namespace memtrace
