// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/tools/analysis/jobs/job_fixture.h"
#include "tools/analysis/jobs/imbalance.h"

namespace memtrace::analysis {
namespace {

using trace::Role;
using Kind = PeakCause::Kind;

// A stage of a pipeline of four: 10 GiB of layers, and activations of `in_flight` micro-batches.
ProcessView Stage(uint64_t stage, uint64_t in_flight) {
  ProcessView view = Rank(stage * 2, 8);
  Join(view, "pp", 4, 2);
  Hold(view, Role::kParameter, "layers.*", 10_GiB);
  Hold(view, Role::kActivation, "layers.*", in_flight * 1_GiB + 512_MiB);
  view.in_flight = MicroBatchesInFlight{
      .count = in_flight, .bytes = in_flight * 1_GiB, .by_site = {{"layers.*", in_flight * 1_GiB}}};
  return view;
}

const PeakCause* Find(const Comparison& comparison, Kind kind) {
  const auto found = std::find_if(comparison.causes.begin(), comparison.causes.end(),
                                  [kind](const PeakCause& cause) { return cause.kind == kind; });
  return found == comparison.causes.end() ? nullptr : &*found;
}

int64_t Sum(const Comparison& comparison) {
  int64_t sum = 0;
  for (const PeakCause& cause : comparison.causes) sum += cause.bytes;
  return sum;
}

TEST(ComparisonTest, ModuleThatOnlyOneRankHasIsACauseWithAllItsRoles) {
  ProcessView first = Stage(0, 2);
  Hold(first, Role::kParameter, "tok_embeddings", 1_GiB);
  Hold(first, Role::kOptimizerState, "tok_embeddings", 2_GiB);
  const Comparison found = Compare({first, Stage(1, 2)}, 0, 1, /*in_pipeline=*/true);
  ASSERT_EQ(found.causes.size(), 1U);
  EXPECT_EQ(found.causes[0].kind, Kind::kModule);
  EXPECT_EQ(found.causes[0].site, "tok_embeddings");
  EXPECT_EQ(found.causes[0].bytes, static_cast<int64_t>(3_GiB));
}

TEST(ComparisonTest, ModuleOfTheOtherRankIsANegativeCause) {
  ProcessView last = Stage(3, 2);
  Hold(last, Role::kParameter, "output", 1_GiB);
  const Comparison found = Compare({Stage(1, 2), last}, 0, 1, true);
  ASSERT_EQ(found.causes.size(), 1U);
  EXPECT_EQ(found.causes[0].bytes, -static_cast<int64_t>(1_GiB));
}

TEST(ComparisonTest, ModuleWithoutParametersIsNoModule) {
  ProcessView first = Stage(0, 2);
  Hold(first, Role::kTemporary, "rotary", 1_GiB);
  Hold(first, Role::kParameter, "train.py:12", 1_GiB);  // a line, not a path
  const Comparison found = Compare({first, Stage(1, 2)}, 0, 1, true);
  EXPECT_EQ(Find(found, Kind::kModule), nullptr);
  EXPECT_EQ(found.causes.size(), 2U);
}

TEST(ComparisonTest, MicroBatchesInFlightAreACauseOfTheirOwn) {
  const Comparison found = Compare({Stage(0, 4), Stage(2, 2)}, 0, 1, true);
  const PeakCause* cause = Find(found, Kind::kMicroBatches);
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->count, 4U);
  EXPECT_EQ(cause->other_count, 2U);
  EXPECT_EQ(cause->bytes, static_cast<int64_t>(2_GiB));
  EXPECT_EQ(found.causes.size(), 1U);
}

TEST(ComparisonTest, WithoutAPipelineActivationsAreActivations) {
  const Comparison found = Compare({Stage(0, 4), Stage(2, 2)}, 0, 1, /*in_pipeline=*/false);
  ASSERT_EQ(found.causes.size(), 1U);
  EXPECT_EQ(found.causes[0].kind, Kind::kHolder);
  EXPECT_EQ(found.causes[0].role, Role::kActivation);
}

TEST(ComparisonTest, DifferentNumbersOfLayersAreOneCause) {
  ProcessView fewer = Rank(0, 8);
  ProcessView more = Rank(1, 8);
  fewer.layers = {{"layers.*", 15}};
  more.layers = {{"layers.*", 16}};
  for (ProcessView* view : {&fewer, &more}) {
    Hold(*view, Role::kParameter, "layers.*", view->layers["layers.*"] * 1_GiB);
    Hold(*view, Role::kOptimizerState, "layers.*.mlp", view->layers["layers.*"] * 2_GiB);
    Hold(*view, Role::kTemporary, "train.py:9", 1_GiB);
  }
  const Comparison found = Compare({fewer, more}, 0, 1, false);
  ASSERT_EQ(found.causes.size(), 1U);
  EXPECT_EQ(found.causes[0].kind, Kind::kLayers);
  EXPECT_EQ(found.causes[0].bytes, -static_cast<int64_t>(3_GiB));
  EXPECT_EQ(found.causes[0].count, 15U);
  EXPECT_EQ(found.causes[0].other_count, 16U);
}

TEST(ComparisonTest, LogitsAreNamedOnlyWhereALossMadeThem) {
  ProcessView last = Stage(3, 2);
  Hold(last, Role::kTemporary, "loss.py:425", 2_GiB);
  EXPECT_EQ(Find(Compare({last, Stage(1, 2)}, 0, 1, true), Kind::kLoss), nullptr);
  last.holders.back().is_of_loss = true;
  last.holders.back().line = "torch/nn/functional.py:3458";
  const Comparison found = Compare({last, Stage(1, 2)}, 0, 1, true);
  const PeakCause* cause = Find(found, Kind::kLoss);
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->line, "torch/nn/functional.py:3458");
}

TEST(ComparisonTest, CausesSumToTheDifferenceEvenIfEventsWereLost) {
  ProcessView first = Stage(0, 4);
  Hold(first, Role::kParameter, "tok_embeddings", 1_GiB);
  first.peak += 3_MiB;  // no holder has these
  const Comparison found = Compare({first, Stage(2, 2)}, 0, 1, true);
  EXPECT_EQ(found.bytes, static_cast<int64_t>(3_GiB + 3_MiB));
  EXPECT_EQ(Sum(found), found.bytes);
  ASSERT_NE(Find(found, Kind::kRest), nullptr);
}

TEST(ComparisonTest, FullestAndEmptiestAreComparedWithTheMiddle) {
  const std::vector<ProcessView> views = {Stage(0, 8), Stage(1, 5), Stage(2, 4), Stage(3, 1)};
  const std::vector<Comparison> found = ComparisonsOf(views, ShapeOf(views), KindsOf(views));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].process, 0U);
  EXPECT_EQ(found[1].process, 3U);
  EXPECT_EQ(found[0].with, 1U);
  EXPECT_EQ(found[1].with, 1U);
}

TEST(ComparisonTest, SmallDifferencesAreNotExplained) {
  std::vector<ProcessView> views = {Stage(0, 2), Stage(1, 2)};
  Hold(views[0], Role::kBuffer, "freqs", 1_MiB);
  EXPECT_TRUE(ComparisonsOf(views, ShapeOf(views), KindsOf(views)).empty());
}

TEST(ComparisonTest, PipelineIsKnownByItsGroupOrByItsBuffers) {
  ProcessView view = Rank(0, 8);
  EXPECT_FALSE(IsPipeline({view}, ShapeOf({view})));
  Hold(view, Role::kActivation, "torch/distributed/pipelining/stage.py:108", 1_MiB);
  EXPECT_TRUE(IsPipeline({view}, ShapeOf({view})));
  EXPECT_TRUE(IsPipeline({Stage(0, 1)}, ShapeOf({Stage(0, 1)})));
}

TEST(ImbalanceTest, MeanOfTheStagesIsTheBalance) {
  const std::vector<ProcessView> views = {Stage(0, 4), Stage(1, 3), Stage(2, 2), Stage(3, 1)};
  const auto found = ImbalanceOf(views, ShapeOf(views), KindsOf(views));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->most, 0U);
  EXPECT_EQ(found->least, 3U);
  EXPECT_EQ(found->bytes, 3_GiB);
  EXPECT_EQ(found->balanced, 13_GiB);
}

TEST(ImbalanceTest, BalanceNeedsAllStages) {
  const std::vector<ProcessView> views = {Stage(0, 4), Stage(3, 1)};
  const auto found = ImbalanceOf(views, ShapeOf(views), KindsOf(views));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->balanced.has_value());
}

TEST(ImbalanceTest, NothingIsSaidOfRunsThatDidNotEnd) {
  std::vector<ProcessView> views = {Stage(0, 4), Stage(3, 1)};
  views[1].run.completeness.closed = false;
  EXPECT_FALSE(ImbalanceOf(views, ShapeOf(views), KindsOf(views)).has_value());
  views[1].run.completeness.closed = true;
  views[1].exception = "ValueError";
  EXPECT_FALSE(ImbalanceOf(views, ShapeOf(views), KindsOf(views)).has_value());
}

}  // namespace
}  // namespace memtrace::analysis
