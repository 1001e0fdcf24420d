// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/changed_places.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

ChangedPlaces Read(const std::string& text) {
  return *ChangedPlacesOf({{"fit.changed.checkpoint", text}}, "checkpoint");
}

TEST(ChangedPlacesTest, PlacesAndTheFirstOfThemAreRead) {
  const ChangedPlaces changed =
      Read(R"({"places":9,"of":32,"target":"MistralDecoderLayer","first":"model.layers.0"})");
  EXPECT_EQ(changed.places, 9u);
  EXPECT_EQ(changed.of, 32u);
  EXPECT_EQ(changed.target, "MistralDecoderLayer");
  EXPECT_EQ(changed.first, "model.layers.0");
}

TEST(ChangedPlacesTest, NumberOfAnOlderTraceIsTheNumberOfPlaces) {
  EXPECT_EQ(Read("4").places, 4u);
  EXPECT_EQ(Read("4").of, 4u);
}

TEST(ChangedPlacesTest, DamagedTextHasNoPlaces) {
  EXPECT_EQ(Read("{").places, 0u);
  EXPECT_EQ(Read(R"({"places":-1,"of":"all","target":3})").places, 0u);
  EXPECT_EQ(Read("[1]").of, 0u);
}

TEST(ChangedPlacesTest, HookThatTheRunDidNotHaveIsAbsent) {
  EXPECT_FALSE(ChangedPlacesOf({{"fit.changed.fused", "1"}}, "checkpoint"));
}

}  // namespace
}  // namespace memtrace::fit
