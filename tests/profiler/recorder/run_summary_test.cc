// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A summary contains the same as the analysis of the whole trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/events/card_fields.h"
#include "profiler/trace/reading/summary_reader.h"
#include "tests/profiler/recorder/random_run.h"
#include "tools/analysis/explanation.h"

namespace memtrace::recorder {
namespace {

using nlohmann::json;
using Shares = std::map<std::string, uint64_t>;

json SummaryOf(const std::string& path) {
  const auto text = trace::ReadSummary(path);
  EXPECT_TRUE(text.ok()) << text.status();
  EXPECT_LE(text->size(), 16_KiB);
  return json::parse(*text);
}

Shares Of(const std::vector<analysis::Share>& shares) {
  Shares bytes;
  for (const analysis::Share& share : shares) {
    if (share.bytes > 0) bytes[share.name] = share.bytes;
  }
  return bytes;
}

// Returns the bytes by role (`column` 0) or by owner (1).
Shares Of(const json& rows, size_t column) {
  Shares bytes;
  for (const json& row : rows) bytes[row[column]] += row[2].get<uint64_t>();
  return bytes;
}

class RunSummaryTest : public testing::TestWithParam<uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, RunSummaryTest, testing::Values(1, 2, 3, 4, 5, 6));

TEST_P(RunSummaryTest, AgreesWithTheAnalysisOfTheWholeTrace) {
  RecordedRun run({.map_pages = GetParam() % 3 != 0, .with_summary = true});
  RandomRun(run.recorder(), GetParam()).Do(2'000 * GetParam());
  run.recorder().Close();
  const json summary = SummaryOf(run.path());
  const command::TraceInput input = InputOf(run.path());
  const analysis::Explanation all = *analysis::Explain(input);
  analysis::LiveSet live;
  std::map<int32_t, uint64_t> most_reserved;
  input.ForEach([&](const trace::Event& event) {
    live.Apply(event);
    for (const int32_t card : {0, 1})
      most_reserved[card] = std::max(most_reserved[card], live.mapped(card).bytes());
  });

  EXPECT_EQ(summary["last"], 1);
  EXPECT_EQ(summary["events"], all.run.counts.events);
  EXPECT_EQ(summary["steps"], all.run.counts.steps);
  EXPECT_EQ(summary["out_of_memory"], all.run.counts.out_of_memory);
  EXPECT_EQ(summary["at"]["step"], live.position().step);
  EXPECT_EQ(summary["at"]["phase"], std::string(PhaseName(live.position().phase)));
  ASSERT_EQ(summary["cards"].size(), 2U);
  for (const json& card : summary["cards"]) {
    const int32_t device = card["index"];
    const analysis::CardTimeline& figures = all.timelines.at(device);
    EXPECT_EQ(card["live_requested"], figures.held());
    EXPECT_EQ(card["waiting_requested"], figures.waiting_requested);
    EXPECT_EQ(card["live_allocated"], figures.live_allocated + figures.waiting_allocated);
    EXPECT_EQ(card["waiting_allocated"], figures.waiting_allocated);
    EXPECT_EQ(card["reserved"], live.mapped(device).bytes());
    EXPECT_EQ(card["peak_reserved"], most_reserved.at(device));
    analysis::SiteNames sites(input);
    const analysis::Breakdown now = BreakDown(live.Capture(device), live, input, sites, true);
    EXPECT_EQ(Of(card["now"], 0), Of(now.by_role));
    EXPECT_EQ(Of(card["now"], 1), Of(now.by_owner));
    const analysis::Breakdown& peak = all.cards.at(static_cast<size_t>(device)).peak;
    EXPECT_EQ(card["peak"]["bytes"], peak.bytes);
    EXPECT_EQ(card["peak"]["at"]["step"], figures.peak_at.step);
    EXPECT_EQ(Of(card["peak"]["held"], 0), Of(peak.by_role));
    EXPECT_EQ(Of(card["peak"]["held"], 1), Of(peak.by_owner));
    const auto& levels = figures.live_at_steps;
    const size_t count = card["live_at_steps"].size();
    ASSERT_LE(count, levels.size());
    EXPECT_EQ(card["live_at_steps"],
              json(std::vector(levels.end() - static_cast<long>(count), levels.end())));
    ASSERT_EQ(card.contains("sample"), figures.last_sample.has_value());
    if (!figures.last_sample) continue;
    for (const trace::CardField& field : trace::kCardFields) {
      EXPECT_EQ(card["sample"][std::string(field.name)], (*figures.last_sample).*field.value);
    }
  }
}

TEST(SummaryTest, IsReadableWhileTheProgramRuns) {
  RecordedRun run({.with_summary = true});
  EXPECT_TRUE(absl::IsNotFound(trace::ReadSummary(run.path()).status()));
  run.Allocate(DeviceAddress{0x200}, 100);
  run.Allocate(DeviceAddress{0x400}, 100);
  const json summary = SummaryOf(run.path());
  EXPECT_EQ(summary["last"], 0);
  EXPECT_EQ(summary["events"], 0) << "before the first event; the next comes after a second";
}

TEST(SummaryTest, PeakBeforeTheAllocatorBeganCountsOnlyWhereBlocksRemain) {
  RecordedRun run({.with_summary = true});
  const BlockEvent elsewhere{
      .device = DeviceIndex{1}, .pool = {}, .address = DeviceAddress{0x200}, .requested = 700};
  run.recorder().blocks().Allocated(elsewhere);
  run.Allocate(DeviceAddress{0x200}, 4096);
  run.Free(DeviceAddress{0x200}, 4096);
  run.recorder().program().BeginAllocator();
  run.Allocate(DeviceAddress{0x400}, 100);
  run.recorder().Close();
  const analysis::Explanation all = *analysis::Explain(InputOf(run.path()));
  EXPECT_EQ(all.timelines.at(0).peak, 100U);
  EXPECT_EQ(all.timelines.at(1).peak, 700U);
  const json summary = SummaryOf(run.path());
  for (const json& card : summary["cards"])
    EXPECT_EQ(card["peak"]["bytes"], all.timelines.at(card["index"]).peak);
}

TEST(SummaryTest, SmallOwnersAreMergedUntilTheSummaryFits) {
  RecordedRun run({.with_summary = true});
  for (int32_t card = 0; card < 40; ++card) {
    for (uint64_t i = 0; i < 60; ++i) {
      const std::string owner =
          "owner/\"\x01\xe2\x82\xac" + std::to_string(i) + std::string(200, 'x');
      run.recorder().blocks().Allocated(
          {.device = DeviceIndex{card},
           .pool = {},
           .address = DeviceAddress{0x200 * i},
           .requested = 100,
           .allocated = 512,
           .context = run.recorder().contexts().Pack(
               {.stack = 0, .owner = run.recorder().trace().Intern(owner), .module = 0})});
    }
  }
  run.recorder().Close();
  const json summary = SummaryOf(run.path());
  EXPECT_EQ(summary["cards_in_all"], 40);
  EXPECT_GE(summary["cards"].size(), 16U);
  for (const json& card : summary["cards"]) {
    uint64_t sum = 0;
    for (const auto& [name, bytes] : Of(card["now"], 0)) sum += bytes;
    EXPECT_EQ(sum, 6000U);
  }
}

TEST(SummaryTest, DamagedSummaryFallsBackToTheOther) {
  RecordedRun run({.with_summary = true});
  run.Allocate(DeviceAddress{0x200}, 100);
  run.recorder().Close();
  std::fstream file(run.path(), std::ios::in | std::ios::out | std::ios::binary);
  trace::FileHeader header;
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  for (const size_t block : {0U, 1U}) {
    const auto at = static_cast<std::streamoff>(header.summary_offset + block * 16_KiB + 100);
    file.seekg(at);
    const char byte = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1)).flush();
    EXPECT_TRUE(trace::ReadSummary(run.path()).ok()) << block;
    file.seekp(at);
    file.put(byte).flush();
  }
}

TEST(SummaryTest, CutShortFileIsSaidToBeCutShort) {
  RecordedRun run({.with_summary = true});
  run.Allocate(DeviceAddress{0x200}, 100);
  run.recorder().Close();
  trace::FileHeader header;
  std::ifstream(run.path(), std::ios::binary)
      .read(reinterpret_cast<char*>(&header), sizeof(header));
  std::filesystem::resize_file(run.path(), header.summary_offset + 100);
  const absl::Status status = trace::ReadSummary(run.path()).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_TRUE(absl::EndsWith(status.message(), "the file is cut short")) << status;
}

TEST(SummaryTest, MissingSummaryIsNotFound) {
  RecordedRun run;
  run.Allocate(DeviceAddress{0x200}, 100);
  run.recorder().Close();
  EXPECT_TRUE(absl::IsNotFound(trace::ReadSummary(run.path()).status()));
  EXPECT_TRUE(absl::IsNotFound(trace::ReadSummary(run.path() + ".none").status()));
}

}  // namespace
}  // namespace memtrace::recorder
