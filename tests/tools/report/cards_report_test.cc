// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/cards_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "nlohmann/json.hpp"

namespace memtrace::report {
namespace {

using card::FigureSource;

constexpr std::array<card::CardProfile, 1> kCards = {
    {{.name = "ada-10gb",
      .device_name = "Ada",
      .bytes = 10ull << 30,
      .bytes_origin = {FigureSource::kMeasured, "a message"},
      .context_bytes = 450ull << 20,
      .context_origin = {FigureSource::kAssumed, "a guess"},
      .compute_capability_major = 8,
      .compute_capability_minor = 9,
      .compute_capability_origin = {FigureSource::kDatasheet, "a guide"},
      .multiprocessors = 60,
      .multiprocessors_origin = {FigureSource::kDatasheet, "a sheet"},
      .link = card::CardLink::kPcie,
      .link_origin = {FigureSource::kAssumed, "a slot"},
      .nccl_channels = 4,
      .nccl_channels_origin = {FigureSource::kAssumed, "a log"}}}};

TEST(CardsReportTest, EveryFigureIsMarkedWithItsSource) {
  EXPECT_THAT(TextCards(kCards),
              testing::HasSubstr(
                  "ada-10gb           10.00 m          450 a   8.9 d    60 d    pcie a  Ada\n"));
}

TEST(CardsReportTest, JsonHasValuesAndSources) {
  const auto json = nlohmann::json::parse(JsonCards(kCards));
  EXPECT_EQ(json["schema"], "memtrace.cards/1");
  const auto& bytes = json["cards"][0]["bytes"];
  EXPECT_EQ(bytes["value"], 10737418240);
  EXPECT_EQ(bytes["source"], "measured");
  EXPECT_EQ(bytes["from"], "a message");
  EXPECT_EQ(json["cards"][0]["compute_capability"]["value"], "8.9");
  const auto measured = nlohmann::json::parse(JsonCards({card::FindCardProfile("h100-80gb"), 1}));
  EXPECT_EQ(measured["cards"][0]["speeds"]["value"]["bfloat16"], 760e12);
}

}  // namespace
}  // namespace memtrace::report
