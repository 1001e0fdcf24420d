// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A reader that begins at a checkpoint knows the same as one that has read everything.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/trace/coding/format.h"
#include "tests/profiler/recorder/random_run.h"
#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::recorder {
namespace {

std::string TextOf(const analysis::Breakdown& breakdown) {
  std::ostringstream text;
  text << breakdown.bytes << " in " << breakdown.blocks << "\n";
  for (const auto* shares : {&breakdown.by_role, &breakdown.by_owner, &breakdown.by_site}) {
    for (const analysis::Share& share : *shares) {
      text << share.name << " " << share.bytes << " " << share.known.stated << "\n";
    }
  }
  for (const analysis::Holding& holding : breakdown.holdings) {
    text << RoleName(holding.role) << " " << holding.site << " " << holding.bytes << " "
         << holding.blocks << " since " << holding.since.step << " " << holding.stack << "\n";
  }
  return text.str();
}

// Returns the live blocks at the end, with owner, role and time of birth, and the mapped ranges.
std::string LiveAtTheEnd(const command::TraceInput& input) {
  analysis::LiveSet live;
  analysis::Timeline timeline(input, 0);
  input.ForEach([&](const trace::Event& event) {
    live.Apply(event);
    timeline.Apply(event);
  });
  std::ostringstream text;
  for (const int32_t card : {0, 1}) {
    analysis::SiteNames sites(input);
    const auto captured = live.Capture(card);
    for (const bool waiting : {false, true}) {
      text << TextOf(BreakDown(captured, live, input, sites, waiting));
    }
    for (const analysis::CapturedBlock& block : captured) {
      const trace::Allocate& allocation = live.block(block.id).allocation;
      text << allocation.address << " " << allocation.stream << " " << allocation.pool << "\n";
    }
    const analysis::CardTimeline& figures = timeline.cards().at(card);
    text << live.mapped(card).bytes() << " " << figures.live_requested << " "
         << figures.live_allocated << " " << figures.reserved << "\n";
  }
  text << live.position().step << " " << PhaseName(live.position().phase) << "\n";
  for (const auto& [key, value] : timeline.annotations()) text << key << "=" << value << "\n";
  return text.str();
}

class CheckpointTest : public testing::TestWithParam<uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, CheckpointTest, testing::Values(1, 2, 3));

TEST_P(CheckpointTest, ReaderThatBeginsAtACheckpointKnowsTheLiveSet) {
  constexpr size_t kActions = 600'000;
  RecordedRun whole;
  RandomRun(whole.recorder(), GetParam()).Do(kActions);
  whole.recorder().Close();
  RecordedRun kept({.map_pages = GetParam() != 2, .keep_bytes = trace::kLeastKeptBytes});
  RandomRun(kept.recorder(), GetParam()).Do(kActions);
  kept.recorder().Close();

  const command::TraceInput all = InputOf(whole.path());
  const command::TraceInput last = InputOf(kept.path());
  const trace::Completeness& state = last.completeness();
  EXPECT_TRUE(state.whole());
  EXPECT_FALSE(state.live_set_missing);
  EXPECT_GT(state.dropped_events, 0U);
  EXPECT_GT(state.begins_at_step, 0U);
  EXPECT_EQ(LiveAtTheEnd(last), LiveAtTheEnd(all));
}

TEST(CheckpointStateTest, LiveSetIsThatAtTheBeginningOfTheCheckpoint) {
  RecordedRun kept({.keep_bytes = trace::kLeastKeptBytes});
  RandomRun(kept.recorder(), 4).Do(600'000);
  kept.recorder().Close();
  std::map<uint64_t, bool> alive;  // by address
  uint64_t frees_of_unknown_blocks = 0;
  kept.Reader().ForEach([&](const trace::Event& event) {
    if (const auto* block = std::get_if<trace::Alive>(&event.payload)) {
      EXPECT_FALSE(alive[block->block.address]) << "twice";
      alive[block->block.address] = true;
    } else if (const auto* born = std::get_if<trace::Allocate>(&event.payload)) {
      EXPECT_FALSE(alive[born->address]) << "an address given twice";
      alive[born->address] = true;
    } else if (const auto* freed = std::get_if<trace::FreeCompleted>(&event.payload)) {
      frees_of_unknown_blocks += alive[freed->address] ? 0U : 1U;
      alive[freed->address] = false;
    }
  });
  EXPECT_EQ(frees_of_unknown_blocks, 0U);
}

TEST(CheckpointStateTest, EmptyFieldOfALaterLabelKeepsTheEarlierValue) {
  constexpr DeviceAddress kAddress{0x200};
  RecordedRun kept({.keep_bytes = trace::kLeastKeptBytes});
  BlockRecorder& blocks = kept.recorder().blocks();
  kept.Allocate(kAddress, 100);
  blocks.Relabel(DeviceIndex{0}, kAddress, 100, trace::Role::kParameter, "policy", "h.0.weight");
  blocks.Relabel(DeviceIndex{0}, kAddress, 100, trace::Role::kGradient, "", "");
  RandomRun(kept.recorder(), 5).Do(600'000);
  kept.recorder().Close();
  const trace::TraceReader reader = kept.Reader();
  int found = 0;
  reader.ForEach([&](const trace::Event& event) {
    const auto* alive = std::get_if<trace::Alive>(&event.payload);
    if (alive == nullptr || alive->block.address != kAddress.value()) return;
    ++found;
    EXPECT_EQ(alive->role, trace::Role::kGradient);
    EXPECT_EQ(reader.String(alive->block.owner), "policy");
    EXPECT_EQ(reader.String(alive->path), "h.0.weight");
  });
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace memtrace::recorder
