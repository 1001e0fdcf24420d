// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/kept_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/units.h"
#include "tests/tools/analysis/named_program.h"
#include "tools/analysis/explanation.h"

namespace memtrace::analysis {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr trace::StackId kCallsModel = 14;  // the line of train.py

// A step whose passes each make a result of 100 MiB and temporary memory of 40 MiB, on a card of
// 500 MiB with 60 MiB of optimizer states. The fourth pass fails.
class KeptResultsTest : public testing::Test {
 protected:
  KeptResultsTest() {
    program_.Add(trace::CardSample{{.device = 0, .total = 500_MiB, .free = 500_MiB}});
    program_.Add(trace::Map{0, 0, 500_MiB, 0}).Allocate(0, 60_MiB);
    program_.Add(
        trace::Relabel{.address = 0, .size = 60_MiB, .role = trace::Role::kOptimizerState});
    program_.Add(trace::Step{1});
  }

  void Annotate(const std::string& key, const std::string& value) {
    program_.Add(trace::Annotate{program_.Name(key), program_.Name(value)});
  }
  void MakeResults(trace::Phase phase) {
    program_.Add(trace::PhaseChange{phase});
    for (uint64_t pass = 0; pass < 3; ++pass) {
      Allocate(400_MiB, 40_MiB, kCallsModel - 1);
      Allocate(60_MiB + pass * 100_MiB, 100_MiB, kCallsModel);
      program_.Free(400_MiB);
    }
  }
  void Allocate(uint64_t address, uint64_t bytes, trace::StackId line) {
    program_.Allocate(trace::Allocate{.address = address, .requested = bytes, .stack = line});
  }
  // Fails for `bytes`, of which so many are obtainable.
  Explanation Failed(uint64_t bytes, uint64_t obtainable) {
    Allocate(400_MiB, 40_MiB, kCallsModel - 1);
    program_.Add(trace::OutOfMemory{.requested = bytes,
                                    .allocated = bytes,
                                    .obtainable = obtainable,
                                    .stack = kCallsModel,
                                    .cards = {}});
    return *Explain(program_);
  }
  static bool HasRow(const Explanation& explanation, const std::string& part) {
    const auto& rows = explanation.cures.remedies;
    return std::any_of(rows.begin(), rows.end(), [&part](const Remedy& row) {
      return row.name.find(part) != std::string::npos;
    });
  }

  NamedProgram program_;
};

TEST_F(KeptResultsTest, ResultsOfAnEvaluationGoToTheHostFirst) {
  MakeResults(trace::Phase::kEvaluate);
  Annotate("variables.reach", "preds\tevaluate, train.py\tlist\t3\t0:314572800");
  const Explanation explanation = Failed(400_MiB, 100_MiB);
  ASSERT_TRUE(explanation.kept.results);
  EXPECT_EQ(explanation.kept.results->bytes, 300_MiB);
  EXPECT_EQ(explanation.kept.results->line, "train.py:14");
  const Remedy& first = explanation.cures.remedies.at(0);
  EXPECT_EQ(first.name, "do not keep");
  EXPECT_THAT(first.change, StartsWith("move each result to the host before 'preds' (evaluate, "
                                       "train.py) takes it"));
  EXPECT_FALSE(HasRow(explanation, "half the"));  // half of a pass is less than what was missing
}

TEST_F(KeptResultsTest, ResultsWithGraphsAreToLoseThem) {
  MakeResults(trace::Phase::kForward);
  Annotate("variables.reach", "preds\ttrain.py\tlist\t3\t0:314572800");
  Annotate("forward.since_backward", "4");
  Annotate("forward.before_backward", "1");
  Annotate("optimizer.trained_bytes.0", "1048576");
  const Explanation explanation = Failed(400_MiB, 100_MiB);
  ASSERT_TRUE(explanation.kept.results);
  EXPECT_TRUE(explanation.kept.results->has_graphs);
  EXPECT_THAT(explanation.cures.remedies.at(0).change, HasSubstr(".detach().cpu()"));
  EXPECT_FALSE(HasRow(explanation, "half the micro-batch"));
}

TEST_F(KeptResultsTest, SmallerBatchIsNamedIfItMakesUpForWhatWasMissing) {
  MakeResults(trace::Phase::kEvaluate);
  Annotate("variables.reach", "preds\tevaluate, train.py\tlist\t3\t0:314572800");
  EXPECT_TRUE(HasRow(Failed(110_MiB, 60_MiB), "half the"));
}

TEST_F(KeptResultsTest, ResultsThatGoWithTheirListAreNotTemporary) {
  MakeResults(trace::Phase::kEvaluate);
  for (uint64_t pass = 0; pass < 3; ++pass) program_.Free(60_MiB + pass * 100_MiB);
  const Explanation explanation = *Explain(program_);
  ASSERT_TRUE(explanation.kept.results);
  EXPECT_EQ(explanation.kept.results->bytes, 200_MiB);  // the newest is of the running pass
  EXPECT_EQ(explanation.kept.results->name, "");
  EXPECT_EQ(explanation.layout.scratch.at(0).bytes, 100_MiB);
}

TEST_F(KeptResultsTest, ResultsOfPassesThatABackwardFollowsAreNeeded) {
  MakeResults(trace::Phase::kForward);
  Annotate("variables.reach", "views\ttrain.py\tlist\t3\t0:314572800");
  Annotate("forward.since_backward", "4");
  Annotate("forward.before_backward", "4");
  EXPECT_FALSE(Failed(400_MiB, 100_MiB).kept.results);
}

TEST_F(KeptResultsTest, VariableThatIsNoContainerOrHoldsOtherMemoryKeepsNoResults) {
  MakeResults(trace::Phase::kEvaluate);
  Annotate("variables.reach",
           "model\ttrain.py\tNet\t0\t0:314572800\nbatches\ttrain.py\tlist\t3\t0:1048576");
  EXPECT_FALSE(Failed(400_MiB, 100_MiB).kept.results);
}

}  // namespace
}  // namespace memtrace::analysis
