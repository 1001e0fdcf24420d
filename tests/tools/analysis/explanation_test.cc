// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/units.h"

namespace memtrace::analysis {
namespace {

using Kind = MomentSpec::Kind;
using testing::HasSubstr;
using testing::IsEmpty;

// A program on card 0, event by event, a millisecond apart. Stack N is line N of train.py, and so
// is stack kLower + N, which calls into torch.
class Program : public EventSource {
 public:
  static constexpr trace::StackId kLower = 1000;

  Program& Map(uint64_t address, uint64_t size) { return Add(trace::Map{0, address, size, 0}); }
  Program& Reserve(uint64_t address, uint64_t size) {
    return Add(trace::Reserve{0, address, size, 0});
  }
  Program& Allocate(uint64_t address, uint64_t bytes, trace::StackId line = 1) {
    trace::Allocate allocation;
    allocation.address = address;
    allocation.requested = bytes;
    allocation.allocated = RoundUp(bytes, 512);
    allocation.stack = line;
    return Add(allocation);
  }
  Program& Request(uint64_t address) { return Add(trace::FreeRequested{0, address}); }
  Program& Complete(uint64_t address) { return Add(trace::FreeCompleted{0, address}); }
  Program& Free(uint64_t address) { return Request(address).Complete(address); }
  Program& Step(uint64_t number) { return Add(trace::Step{number}); }
  Program& Phase(trace::Phase phase) { return Add(trace::PhaseChange{phase, 0}); }
  Program& Fail(uint64_t bytes) {
    trace::OutOfMemory failure;
    failure.requested = failure.allocated = bytes;
    return Add(failure);
  }

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    for (const trace::Event& event : events_) visit(event);
  }
  std::string_view String(trace::StringId /*id*/) const override { return ""; }
  std::vector<trace::Frame> Stack(trace::StackId id) const override {
    if (id == 0) return {};
    const trace::Frame line{.file = "train.py", .function = "main", .line = id % kLower};
    if (id < kLower) return {line};
    return {{.file = "/lib/site-packages/torch/optim/adam.py", .function = "step", .line = 9},
            line};
  }

 private:
  Program& Add(const trace::Payload& payload) {
    const uint64_t number = events_.size() + 1;
    events_.push_back({number, number * 1'000'000, payload});
    return *this;
  }

  std::vector<trace::Event> events_;
};

constexpr uint64_t kSegment = 64_MiB;

Explanation Explained(const Program& program, const MomentSpec& spec = {}) {
  absl::StatusOr<Explanation> explanation = Explain(program, spec);
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  return *std::move(explanation);
}

TEST(PeakTest, BlockCountsUntilItsFreeIsRequested) {
  Program program;
  program.Allocate(0, 10_MiB).Request(0).Allocate(10_MiB, 9_MiB).Complete(0);
  const Explanation explanation = Explained(program);
  EXPECT_EQ(explanation.timelines.at(0).peak, 10_MiB);
  EXPECT_EQ(explanation.cards[0].peak.bytes, 10_MiB);
  EXPECT_EQ(explanation.timelines.at(0).held(), 9_MiB);
}

TEST(PeakTest, WaitingBlockIsNotInThePeak) {
  Program program;
  program.Allocate(0, 5_MiB).Request(0).Allocate(10_MiB, 9_MiB).Complete(0);
  const Explanation explanation = Explained(program);
  EXPECT_EQ(explanation.cards[0].peak.bytes, 9_MiB);
  EXPECT_EQ(explanation.cards[0].ledger.bytes(LedgerPart::kStreamWait), int64_t{5_MiB});
}

TEST(MomentTest, ParsedTextIsWrittenUnchanged) {
  for (const std::string text : {"oom", "oom:2", "peak", "peak:5", "step:5", "event:7", "end"}) {
    const absl::StatusOr<MomentSpec> spec = ParseMomentSpec(text);
    ASSERT_TRUE(spec.ok()) << text;
    EXPECT_EQ(MomentText(*spec), text);
  }
  EXPECT_EQ(*ParseMomentSpec("time:1.5s"), (MomentSpec{Kind::kTime, 1'500'000'000}));
}

TEST(MomentTest, InvalidTextIsRejected) {
  for (const std::string text : {"", "step", "step:", "step:0", "step:x", "end:1", "time:5",
                                 "time:-1s", "time:nans", "later", "event:-1", "peak:1:2"}) {
    EXPECT_FALSE(ParseMomentSpec(text).ok()) << text;
  }
}

// Step 1 rises to 30 MiB, step 2 to 20; 10 stay.
Program TwoSteps() {
  Program program;
  program.Step(1).Allocate(0, 10_MiB, 1).Allocate(32_MiB, 20_MiB, 2).Free(32_MiB);
  program.Step(2).Allocate(32_MiB, 10_MiB, 3).Free(32_MiB);
  return program;
}

uint64_t HeldAt(const Program& program, const MomentSpec& spec) {
  return Explained(program, spec).holders.held.bytes;
}

TEST(MomentTest, HoldersAreThoseAtTheMoment) {
  const Program program = TwoSteps();
  EXPECT_EQ(HeldAt(program, {Kind::kPeak, 0}), 30_MiB);
  EXPECT_EQ(HeldAt(program, {Kind::kPeakOfStep, 2}), 20_MiB);
  EXPECT_EQ(HeldAt(program, {Kind::kStep, 2}), 10_MiB);
  EXPECT_EQ(HeldAt(program, {Kind::kEvent, 1}), 0U);
  EXPECT_EQ(HeldAt(program, {Kind::kEvent, 3}), 30_MiB);
  EXPECT_EQ(HeldAt(program, {Kind::kTime, 3'999'999}), 30_MiB);
  EXPECT_EQ(HeldAt(program, {Kind::kTime, 0}), 0U);
  EXPECT_EQ(HeldAt(program, {Kind::kEnd, 0}), 10_MiB);
}

TEST(MomentTest, MissingMomentIsExplained) {
  const Program program = TwoSteps();
  const auto why = [&program](Kind kind, uint64_t number) {
    return std::string(Explain(program, {kind, number}).status().message());
  };
  EXPECT_THAT(why(Kind::kStep, 3), HasSubstr("the last is step 2"));
  EXPECT_THAT(why(Kind::kEvent, 99), HasSubstr("it has"));
  EXPECT_THAT(why(Kind::kFailure, 1), HasSubstr("no out-of-memory"));
}

TEST(AttributionTest, SumsToTheHeldBytes) {
  const Explanation explanation = Explained(TwoSteps(), {Kind::kPeakOfStep, 2});
  ASSERT_EQ(explanation.holders.attributed.size(), 2U);
  EXPECT_EQ(explanation.holders.attributed[0].bytes + explanation.holders.attributed[1].bytes,
            20_MiB);
  EXPECT_EQ(explanation.holders.attributed[0].site, "train.py:1");
  EXPECT_EQ(explanation.holders.attributed[0].step, 1U);
  EXPECT_EQ(explanation.holders.attributed[1].step, 2U);
}

TEST(GrowthTest, OnlySitesThatKeepRisingGrow) {
  Program program;
  for (uint64_t step = 1; step <= 8; ++step) {
    program.Step(step).Allocate(step * 1_MiB, 1000, 7);  // kept
    program.Allocate(kSegment, 1_MiB, 8).Free(kSegment);
  }
  const Explanation explanation = Explained(program, {Kind::kEnd, 0});
  ASSERT_EQ(explanation.kept.growth.sites.size(), 1U);
  EXPECT_EQ(explanation.kept.growth.sites[0].site, "train.py:7");
  EXPECT_EQ(explanation.kept.growth.sites[0].bytes_per_step, 1000U);
  EXPECT_EQ(explanation.kept.growth.sites[0].bytes, 7000U);
  EXPECT_EQ(explanation.kept.growth.sites[0].since, 1U);
  EXPECT_EQ(explanation.kept.growth.sites[0].line, "train.py:7");
  EXPECT_EQ(explanation.kept.growth.bytes_per_iteration, 1000);
}

// A line that makes states in step 1 and keeps 1000 bytes in each, such as `y = m(x); o.step();
// kept += [y]`.
TEST(GrowthTest, JumpOfAnotherStackOfTheSameLineIsExcluded) {
  Program program;
  for (uint64_t step = 1; step <= 8; ++step) {
    program.Step(step).Allocate(step * 1_MiB, 1000, 7);
    if (step == 1) program.Allocate(kSegment, 1_MiB, Program::kLower + 7);
  }
  const Explanation explanation = Explained(program, {Kind::kEnd, 0});
  ASSERT_EQ(explanation.kept.growth.sites.size(), 1U);
  EXPECT_EQ(explanation.kept.growth.sites[0].bytes_per_step, 1000U);
  EXPECT_EQ(explanation.kept.growth.sites[0].gained, 7000U);
  EXPECT_EQ(explanation.kept.growth.sites[0].bytes, 1_MiB + 7000U);
}

TEST(GrowthTest, SlopesOfAllGrowingStacksOfALineAreAdded) {
  Program program;
  for (uint64_t step = 1; step <= 8; ++step) {
    program.Step(step).Allocate(step * 10_MiB, 1000, 7);
    program.Allocate(step * 10_MiB + 1_MiB, 500, Program::kLower + 7);
  }
  const Explanation explanation = Explained(program, {Kind::kEnd, 0});
  ASSERT_EQ(explanation.kept.growth.sites.size(), 1U);
  EXPECT_EQ(explanation.kept.growth.sites[0].bytes_per_step, 1500U);
  EXPECT_EQ(explanation.kept.growth.sites[0].line, "train.py:7");
}

TEST(GrowthTest, JumpOfTheFirstStepIsExcluded) {
  Program program;
  for (uint64_t step = 1; step <= 8; ++step)
    program.Step(step).Allocate(step * 10_MiB, step == 1 ? 9_MiB : 1000, 7);
  const Explanation explanation = Explained(program, {Kind::kEnd, 0});
  ASSERT_EQ(explanation.kept.growth.sites.size(), 1U);
  EXPECT_EQ(explanation.kept.growth.sites[0].bytes_per_step, 1000U);
  EXPECT_EQ(explanation.kept.growth.sites[0].since, 2U);
}

TEST(GrowthTest, MemoryMadeInTheFirstStepsIsNotGrowth) {
  Program program;
  for (uint64_t step = 1; step <= 8; ++step) {
    program.Step(step);
    if (step < 3) program.Allocate(step * 1_MiB, 1_MiB, 7);
  }
  const Explanation explanation = Explained(program, {Kind::kEnd, 0});
  EXPECT_THAT(explanation.kept.growth.sites, IsEmpty());
  EXPECT_EQ(explanation.kept.growth.bytes_per_iteration, 0);
}

TEST(GrowthTest, OfManyStepsTheLastAndSomeEarlierOnesAreSampled) {
  const std::vector<size_t> seen = GrowthWatch::StepsToSample(1'000'000);
  EXPECT_LT(seen.size(), 40U);
  EXPECT_EQ(seen.front(), 0U);
  EXPECT_EQ(seen.back(), 999'999U);
  EXPECT_EQ(seen[seen.size() - 2], 999'998U);
  EXPECT_EQ(GrowthWatch::StepsToSample(3), (std::vector<size_t>{0, 1, 2}));
  EXPECT_THAT(GrowthWatch::StepsToSample(0), IsEmpty());
}

// The same happens in resize_token_embeddings: 20 MiB of scratch give a result of 1 MiB.
TEST(ScratchTest, IsMemoryFreedInThePhaseOfThePeak) {
  Program program;
  program.Allocate(0, 5_MiB, 1).Allocate(8_MiB, 20_MiB, 2).Allocate(40_MiB, 1_MiB, 3);
  program.Free(8_MiB).Phase(trace::Phase::kForward).Free(0);
  const Explanation explanation = Explained(program);
  ASSERT_EQ(explanation.layout.scratch.size(), 1U);
  EXPECT_EQ(explanation.layout.scratch[0].site, "train.py:2");
  EXPECT_EQ(explanation.layout.scratch[0].bytes, 20_MiB);
  EXPECT_EQ(explanation.layout.scratch[0].stays, 1_MiB);
  EXPECT_EQ(explanation.layout.scratch[0].lifetime_ns, 2'000'000U);
}

// The ledger of holes must add up for any layout.
void ExpectSums(const Fragmentation& fragmentation) {
  const uint64_t stranded =
      std::accumulate(fragmentation.pins.begin(), fragmentation.pins.end(), uint64_t{0},
                      [](uint64_t sum, const Pin& pin) { return sum + pin.strands; });
  const uint64_t sized =
      std::accumulate(fragmentation.by_size.begin(), fragmentation.by_size.end(), uint64_t{0},
                      [](uint64_t sum, const HolesOfSize& size) { return sum + size.bytes; });
  EXPECT_EQ(stranded + fragmentation.releasable, fragmentation.holes);
  EXPECT_EQ(sized, fragmentation.holes);
}

TEST(FragmentationTest, BlockPinsItsWholeSegment) {
  Program program;
  program.Map(0, 20_MiB).Allocate(6_MiB, 512, 4).Map(kSegment, 2_MiB).Fail(30_MiB);
  const Fragmentation found = Explained(program).layout.fragmentation;
  ExpectSums(found);
  EXPECT_EQ(found.holes, 22_MiB - 512);
  EXPECT_EQ(found.largest_hole, 14_MiB - 512);
  EXPECT_EQ(found.hole_count, 3U);
  EXPECT_EQ(found.below_granule, 2_MiB - 512);
  EXPECT_EQ(found.releasable, 2_MiB);
  ASSERT_EQ(found.pins.size(), 1U);
  EXPECT_EQ(found.pins[0].site, "train.py:4");
  EXPECT_EQ(found.pins[0].strands, 20_MiB - 512);
}

TEST(FragmentationTest, BlockPinsOnlyItsGranulesInAnExpandableSegment) {
  Program program;
  program.Reserve(0, 1_GiB).Map(0, 20_MiB).Allocate(6_MiB, 512, 4).Fail(30_MiB);
  const Fragmentation found = Explained(program).layout.fragmentation;
  ExpectSums(found);
  EXPECT_EQ(found.releasable, 18_MiB);
  EXPECT_EQ(found.pins[0].strands, 2_MiB - 512);
}

TEST(FragmentationTest, BlocksOfOneGranuleShareItsStrandedBytes) {
  Program program;
  program.Reserve(0, 1_GiB).Map(0, 4_MiB).Allocate(0, 1_MiB, 4).Allocate(1_MiB + 512, 512, 5);
  program.Fail(30_MiB);
  const Fragmentation found = Explained(program).layout.fragmentation;
  ExpectSums(found);
  ASSERT_EQ(found.pins.size(), 2U);
  EXPECT_EQ(found.pins[0].strands, found.pins[1].strands);
  EXPECT_EQ(found.releasable, 2_MiB);
}

TEST(FragmentationTest, BlockAcrossTwoMappingsJoinsThemToOneSegment) {
  Program program;
  program.Map(0, 20_MiB).Map(20_MiB, 20_MiB).Allocate(10_MiB, 20_MiB).Fail(30_MiB);
  const Fragmentation found = Explained(program).layout.fragmentation;
  ExpectSums(found);
  EXPECT_EQ(found.segments, 1U);
  EXPECT_EQ(found.holes, 20_MiB);
}

}  // namespace
}  // namespace memtrace::analysis
