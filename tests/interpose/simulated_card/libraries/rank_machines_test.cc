// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/rank_machines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;

TEST(RankMachinesTest, PlaceCountsTheRanksOfTheSameMachine) {
  const RankMachines machines({0, 1, 0, 0, 2, 1});
  const RankPlace place = machines.PlaceOf(3);
  EXPECT_EQ(place.ranks, 6);
  EXPECT_EQ(place.machines, 3);
  EXPECT_EQ(place.ranks_here, 3);
  EXPECT_EQ(place.place, 2);
  EXPECT_EQ(machines.RanksWith(5), 2);
  EXPECT_TRUE(machines.AreTogether(1, 5));
  EXPECT_FALSE(machines.AreTogether(0, 4));
}

TEST(RankMachinesTest, OneMachineHasAllRanks) {
  const RankPlace place = RankMachines::InOneMachine(8).PlaceOf(5);
  const RankPlace same = PlaceInOneMachine(8, 5);
  EXPECT_EQ(place.machines, 1);
  EXPECT_EQ(same.machines, 1);
  EXPECT_EQ(place.ranks_here, same.ranks_here);
  EXPECT_EQ(place.place, same.place);
}

TEST(RankMachinesTest, RunsOfRanksAreRead) {
  EXPECT_THAT(ParseRankMachines("0x2,56x1,0x1", 4)->machines(), ElementsAre(0, 0, 56, 0));
}

TEST(RankMachinesTest, OtherTextsAreRejected) {
  for (const char* text : {"", "0", "0x", "x3", "0x2", "0x4", "0x2,", "0x2;1x1", "0x0,0x3", "-1x3",
                           "0x99999999999", "0x3 "})
    EXPECT_FALSE(ParseRankMachines(text, 3).has_value()) << text;
}

}  // namespace
}  // namespace memtrace::card
