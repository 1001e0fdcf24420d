// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/holder.h"

#include <gtest/gtest.h>

#include <string>

namespace memtrace::fit {
namespace {

TEST(HolderTest, PlacesOfASequentialAreMoreTogetherThanOneLargerBlock) {
  HolderSums sums;
  sums.Add("parameter", "[*]", 150);
  for (int module = 0; module < 12; ++module)
    sums.Add("activation", "[" + std::to_string(module) + "]", module == 7 ? 110 : 100);
  const Holder holder = sums.Largest();
  EXPECT_EQ(holder.name, "activation, [7]");
  EXPECT_EQ(holder.bytes, 1210U);
  EXPECT_EQ(holder.places, 12U);
}

TEST(HolderTest, PlaceWithHalfOfItsRoleIsNamedAlone) {
  HolderSums sums;
  sums.Add("activation", "lm_head", 60);
  sums.Add("activation", "model.layers.*.mlp", 40);
  sums.Add("parameter", "model.layers.*.mlp", 50);
  const Holder holder = sums.Largest();
  EXPECT_EQ(holder.name, "activation, lm_head");
  EXPECT_EQ(holder.bytes, 60U);
  EXPECT_EQ(holder.places, 1U);
}

TEST(HolderTest, PlaceIsNotAloneIfAnotherRoleHasMore) {
  HolderSums sums;
  sums.Add("activation", "lm_head", 60);
  sums.Add("activation", "model.layers.*.mlp", 40);
  sums.Add("parameter", "model.layers.*.mlp", 70);
  EXPECT_EQ(sums.Largest().bytes, 100U);
  EXPECT_EQ(sums.Largest().places, 2U);
}

TEST(HolderTest, BytesOfTheSamePlaceAreAddedUp) {
  HolderSums sums;
  sums.Add("activation", "train.py:9", 10);
  sums.Add("activation", "train.py:9", 20);
  EXPECT_EQ(sums.Largest().bytes, 30U);
  EXPECT_EQ(sums.Largest().places, 1U);
}

TEST(HolderTest, NothingIsHeldWithoutBytes) {
  HolderSums sums;
  sums.Add("activation", "train.py:9", 0);
  EXPECT_EQ(sums.Largest().places, 0U);
  EXPECT_TRUE(sums.Largest().name.empty());
}

}  // namespace
}  // namespace memtrace::fit
