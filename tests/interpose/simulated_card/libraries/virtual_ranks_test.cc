// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/virtual_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;

// The environment of a rank that `memtrace run --world 8 --ranks ...` starts.
class VirtualRanksTest : public ::testing::Test {
 protected:
  ~VirtualRanksTest() override {
    unsetenv("MEMTRACE_REAL_RANKS");
    unsetenv("WORLD_SIZE");
    unsetenv("RANK");
    SetPeer(std::nullopt);
  }

  static void StartJob(const char* ranks, const char* rank = "0") {
    setenv("WORLD_SIZE", "8", 1);
    setenv("RANK", rank, 1);
    setenv("MEMTRACE_REAL_RANKS", ranks, 1);
  }

  static std::vector<int> RealOf(const char* name, int size, int rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.netName = name;
    const auto ranks = FindRealRanks(&config, size, rank);
    return ranks ? ranks->ranks() : std::vector<int>();
  }

  // The machines have two cards each.
  static std::vector<int> MachinesOf(const char* name, int size, int rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.netName = name;
    const auto machines = FindMachines(&config, size, rank, 2);
    return machines ? machines->machines() : std::vector<int>();
  }
};

TEST_F(VirtualRanksTest, AllRanksAreRealWithoutAJob) {
  EXPECT_THAT(RealOf(nullptr, 3, 0), ElementsAre(0, 1, 2));
  EXPECT_TRUE(FindRealRanks(nullptr, 3, 0)->AreAll());
}

TEST_F(VirtualRanksTest, GroupOfTorchSaysWhichRanksAreReal) {
  StartJob("0,3");
  EXPECT_THAT(RealOf("memtrace-ranks:4:0,3", 4, 0), ElementsAre(0, 3));
  EXPECT_THAT(RealOf(nullptr, 8, 0), ElementsAre(0, 3));
}

TEST_F(VirtualRanksTest, CommunicatorOfUnknownRanksIsNotGuessed) {
  StartJob("0,3");
  EXPECT_FALSE(FindRealRanks(nullptr, 4, 0).has_value());
  for (const char* name : {"Socket", "memtrace-ranks:4:", "memtrace-ranks:4:0,4",
                           "memtrace-ranks:4:3,0", "memtrace-ranks:x:0", "memtrace-ranks:4:0,x",
                           "memtrace-ranks:4:0,3:0x3", "memtrace-ranks:4:0,3:"})
    EXPECT_THAT(RealOf(name, 4, 0), ElementsAre()) << name;
}

TEST_F(VirtualRanksTest, PairHasTheRealRanksThatItsCallerStates) {
  StartJob("0,3");
  EXPECT_THAT(RealOf("memtrace-ranks:8:0,3", 2, 1), ElementsAre());
  SetPeer(PairPeer{.is_real = false});
  EXPECT_THAT(RealOf("memtrace-ranks:8:0,3", 2, 1), ElementsAre(1));
  SetPeer(PairPeer{.is_real = true});
  EXPECT_THAT(RealOf("memtrace-ranks:8:0,3", 2, 1), ElementsAre(0, 1));
}

TEST_F(VirtualRanksTest, GroupOfTorchSaysOnWhichMachinesItsRanksAre) {
  StartJob("0,3");
  EXPECT_THAT(MachinesOf("memtrace-ranks:4:0:0x1,1x2,3x1", 4, 0), ElementsAre(0, 1, 1, 3));
  EXPECT_THAT(MachinesOf("memtrace-ranks:4:0", 4, 0), ElementsAre(0, 0, 0, 0));
}

TEST_F(VirtualRanksTest, RanksOfTheJobFillItsMachinesInOrder) {
  StartJob("0,3");
  EXPECT_THAT(MachinesOf(nullptr, 8, 0), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST_F(VirtualRanksTest, PairIsOnTheMachinesOfItsRanks) {
  StartJob("0,3", "3");
  SetPeer(PairPeer{.is_real = false, .machine = 2});
  EXPECT_THAT(MachinesOf("memtrace-ranks:8:0,3:0x8", 2, 0), ElementsAre(1, 2));
  EXPECT_THAT(MachinesOf("memtrace-ranks:8:0,3:0x8", 2, 1), ElementsAre(2, 1));
}

TEST_F(VirtualRanksTest, ProcessKnowsItsMachine) {
  EXPECT_EQ(OwnMachine(2), 0);
  StartJob("0,1,2,3,4,5,6,7", "5");
  EXPECT_EQ(OwnMachine(2), 2);
  EXPECT_FALSE(FindMachines(nullptr, 4, 0, 2).has_value()) << "ranks tell each other";
}

TEST_F(VirtualRanksTest, JobWithoutVirtualRanksIsAsUsual) {
  StartJob("0,1,2,3,4,5,6,7");
  EXPECT_TRUE(FindRealRanks(nullptr, 4, 0)->AreAll());
}

TEST(RealRanksTest, NearestRankIsTheLowerOfTwo) {
  const RealRanks ranks(8, {2, 4});
  std::vector<int> nearest;
  nearest.reserve(8);
  for (int rank = 0; rank < 8; ++rank) nearest.push_back(ranks.NearestTo(rank));
  EXPECT_THAT(nearest, ElementsAre(2, 2, 2, 2, 4, 4, 4, 4));
}

TEST(RealRanksTest, VirtualRanksRepeatANeighbourAndAreAssumed) {
  const std::string known(1, MEMTRACE_CARD_KNOWN);
  const std::string assumed(1, MEMTRACE_CARD_ASSUMED);
  const Parts real = {{.call = "c", .size = 1, .held = true, .bytes = "a", .known = known},
                      {.call = "c", .size = 1, .held = true, .bytes = "b", .known = known}};
  std::string bytes;
  std::string all_known;
  for (const Part& part : WithVirtualRanks(real, RealRanks(4, {0, 3}))) {
    bytes += part.bytes;
    all_known += part.known;
  }
  EXPECT_EQ(bytes, "aabb");
  EXPECT_EQ(all_known, known + assumed + assumed + known);
}

TEST(RealRanksTest, CallsThatWereMadeUpAreListed) {
  CountMadeUp("ncclRecv");
  CountMadeUp("ncclAllGather");
  CountMadeUp("ncclRecv");
  EXPECT_EQ(MadeUpCalls(), "ncclAllGather 1, ncclRecv 2");
}

}  // namespace
}  // namespace memtrace::card
