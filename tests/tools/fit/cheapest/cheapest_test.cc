// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest/cheapest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "tests/tools/fit/layered_training.h"
#include "tools/fit/cheapest/frontier.h"
#include "tools/fit/cheapest/plan_space.h"
#include "tools/fit/search.h"

namespace memtrace::fit {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr uint64_t kGiB = LayeredTraining::kGiB;

absl::StatusOr<Answer> Ask(LayeredTraining& training, uint64_t margin = 0, uint64_t runs = 25) {
  Question question;
  question.trial.command = {"python", "train.py"};
  question.trial.cards = {"24GiB"};
  question.margin_percent = margin;
  question.most_runs = runs;
  Search search(question, [&training](const Trial& trial, std::string_view name) {
    return training.Run(trial, name);
  });
  MEMTRACE_RETURN_IF_ERROR(search.Run());
  return search.answer();
}

std::string NameAt(const Answer& answer, size_t place) {
  std::string name;
  for (const Candidate& change : answer.remedies[place].changes)
    name += (name.empty() ? "" : " + ") + change.HookWord();
  return name;
}

std::string Recommended(const Answer& answer) {
  return answer.recommended ? NameAt(answer, *answer.recommended) : "nothing";
}

[[maybe_unused]] std::string OnlyOneLess(const Answer& answer) {
  const std::vector<size_t>& places = answer.cheapest->one_less;
  return places.size() == 1 ? NameAt(answer, places.front()) : "not one";
}

TEST(CheapestSearchTest, FewestLayersAreCheckpointedAndOneLessIsSeenToFail) {
  LayeredTraining training;  // 36 GiB for a card of 24; each layer saves 1
  const Answer answer = *Ask(training);
  EXPECT_EQ(Recommended(answer), "fused + checkpoint=12");
  EXPECT_EQ(OnlyOneLess(answer), "fused + checkpoint=11");
  EXPECT_TRUE(answer.remedies[*answer.recommended].outcome.fits());
  EXPECT_FALSE(answer.remedies[answer.cheapest->one_less.front()].outcome.fits());
  EXPECT_TRUE(answer.cheapest->is_complete);
}

TEST(CheapestSearchTest, PlanThatLeavesTheMarginIsRecommendedAndTheOtherIsKnown) {
  LayeredTraining training;
  const Answer answer = *Ask(training, 5);
  EXPECT_EQ(Recommended(answer), "fused + checkpoint=14");
  EXPECT_TRUE(answer.remedies[*answer.recommended].is_smaller_card);
  EXPECT_EQ(answer.remedies[*answer.recommended].has_margin, true);
  EXPECT_EQ(OnlyOneLess(answer), "fused + checkpoint=13");
  EXPECT_EQ(NameAt(answer, *answer.cheapest->without_margin), "fused + checkpoint=12");
  EXPECT_EQ(NameAt(answer, answer.cheapest->one_less_without_margin.front()),
            "fused + checkpoint=11");
}

// Notes what a search tells its runner of the runs that come.
struct Told {
  std::vector<Trial> ran;
  std::vector<Trial> told;    // of runs after the next one
  size_t others_first = 0;    // lists whose first trial was not the next run
  std::optional<Trial> next;  // as the latest list says

  Runner RunnerOf(LayeredTraining& training) {
    return Runner(
        [this, &training](const Trial& trial, std::string_view name) {
          if (next && !(*next == trial)) ++others_first;
          next.reset();
          ran.push_back(trial);
          return training.Run(trial, name);
        },
        [this](const std::vector<Trial>& trials) {
          if (trials.empty()) return;
          next = trials.front();
          told.insert(told.end(), trials.begin() + 1, trials.end());
        });
  }

  // Returns the changes of trials that were told and never run, each once.
  std::set<std::string> NeverRun() const {
    std::set<std::string> changes;
    for (const Trial& trial : told)
      if (std::find(ran.begin(), ran.end(), trial) == ran.end()) changes.insert(trial.changes);
    return changes;
  }

  // Returns how many of the runs were told before their turn.
  size_t ToldBefore() const {
    return static_cast<size_t>(std::count_if(ran.begin(), ran.end(), [this](const Trial& trial) {
      return std::find(told.begin(), told.end(), trial) != told.end();
    }));
  }
};

TEST(CheapestSearchTest, RunnerIsToldOfRunsThatCome) {
  LayeredTraining training;
  Question question;
  question.trial.command = {"python", "train.py"};
  question.trial.cards = {"24GiB"};
  Told told;
  Search search(question, told.RunnerOf(training));
  ASSERT_TRUE(search.Run().ok());
  EXPECT_EQ(told.others_first, 0U);
  EXPECT_GE(told.ToldBefore(), told.ran.size() / 2);
  EXPECT_THAT(told.NeverRun(), IsEmpty());
}

TEST(CheapestSearchTest, RunnerIsToldOfRunsThatComeIfTheTimeIsNotKnown) {
  LayeredTraining training;
  training.has_time = false;
  training.can_offload = true;
  Question question;
  question.trial.command = {"python", "train.py"};
  question.trial.cards = {"24GiB"};
  Told told;
  Search search(question, told.RunnerOf(training));
  ASSERT_TRUE(search.Run().ok());
  EXPECT_EQ(told.others_first, 0U);
  EXPECT_THAT(told.NeverRun(), IsEmpty());
}

TEST(CheapestSearchTest, FailureWhileLayersAreComputedAgainIsOneOfTheBackwardPass) {
  LayeredTraining training;
  training.recomputes = true;
  EXPECT_EQ(Recommended(*Ask(training)), "fused + checkpoint=12");
}

TEST(PlanSpaceTest, PartsOfABatchAreOfEqualSize) {
  const std::vector<Candidate> all = AllCandidates();
  const auto micro = std::find_if(all.begin(), all.end(),
                                  [](const Candidate& one) { return one.hook == "micro"; });
  ASSERT_NE(micro, all.end());
  Candidate candidate = *micro;
  candidate.of = 12;
  EXPECT_THAT(LadderOf(candidate), ElementsAre(2, 3, 4, 6, 12));
}

TEST(PlanSpaceTest, DegreesThatTheHostHasNoMemoryForAreLeftOut) {
  const std::vector<uint32_t> all = {1, 2, 3, 4};
  std::vector<uint32_t> ladder = all;
  KeepWithinHost(2 * kGiB, 8 * kGiB, ladder);
  EXPECT_THAT(ladder, ElementsAre(1, 2, 3));
  KeepWithinHost(8 * kGiB, 8 * kGiB, ladder);
  EXPECT_THAT(ladder, ElementsAre());
  ladder = all;
  KeepWithinHost(0, 8 * kGiB, ladder);
  KeepWithinHost(2 * kGiB, 0, ladder);
  EXPECT_EQ(ladder, all);
}

TEST(CheapestSearchTest, HolesThatNoModelPredictsCostOneRunMore) {
  LayeredTraining training;
  training.holes = kGiB;
  const Answer answer = *Ask(training);
  EXPECT_EQ(Recommended(answer), "fused + checkpoint=13");
  EXPECT_EQ(OnlyOneLess(answer), "fused + checkpoint=12");
}

TEST(CheapestSearchTest, ChangeThatAltersResultsIsRecommendedOnlyIfNoOtherFits) {
  LayeredTraining training;
  training.lasting = 30 * kGiB;
  EXPECT_EQ(Recommended(*Ask(training)), "fused + lora");
}

TEST(CheapestSearchTest, NothingIsRecommendedIfNothingFits) {
  LayeredTraining training;
  training.lasting = 200 * kGiB;
  const Answer answer = *Ask(training);
  EXPECT_EQ(Recommended(answer), "nothing");
  EXPECT_FALSE(answer.has_plan());
}

TEST(CheapestSearchTest, ChangesThatCannotHelpAreNotRun) {
  LayeredTraining training;
  const Answer answer = *Ask(training);
  EXPECT_THAT(training.ran, Contains("without a change, again"));
  EXPECT_THAT(training.ran, Not(Contains("freeze what is never stepped")));  // it has no places
  EXPECT_THAT(training.ran, Not(Contains("optimizer without foreach")));
  EXPECT_THAT(training.ran, Not(Contains("fused optimizer")));  // saves where there is enough
  EXPECT_THAT(training.ran, Contains("fused optimizer, without a limit"));  // but is faster
}

TEST(CheapestSearchTest, ChangeCountsAlthoughItsRunFailedBeforeMakingIt) {
  LayeredTraining training;
  training.lasting = 25 * kGiB;  // the card has 24: all layers alone do not fit
  training.fails_early = true;
  const Answer answer = *Ask(training);
  const auto alone =
      std::find_if(answer.remedies.begin(), answer.remedies.end(), [](const TriedRemedy& tried) {
        return tried.changes.size() == 1 && tried.changes[0].hook == "checkpoint";
      });
  ASSERT_NE(alone, answer.remedies.end());
  EXPECT_TRUE(alone->had_effect);
  EXPECT_THAT(training.ran, Contains("gradient checkpointing, without a limit"));
}

TEST(CheapestSearchTest, SearchEndsWithItsRuns) {
  LayeredTraining training;
  const Answer answer = *Ask(training, 0, 4);
  EXPECT_FALSE(answer.cheapest->is_complete);
  EXPECT_THAT(training.ran, SizeIs(3 + 4));  // without a limit, on the card, for reference
}

TEST(CheapestSearchTest, ProgramThatFailsWhileItsPlacesAreCountedGetsAPlanWithoutDegrees) {
  LayeredTraining training;
  training.fails_if_looked_at = true;
  const Answer answer = *Ask(training);
  EXPECT_THAT(training.ran, Contains("without a change, again").Times(2));
  ASSERT_TRUE(answer.cheapest.has_value());
  EXPECT_EQ(Recommended(answer), "fused + checkpoint");
}

TEST(CheapestSearchTest, ProgramWhoseTimeIsNotKnownGetsTheSmallestChange) {
  LayeredTraining training;
  training.has_time = false;
  const Answer answer = *Ask(training);
  EXPECT_FALSE(answer.cheapest.has_value());
  EXPECT_EQ(Recommended(answer), "checkpoint");
  EXPECT_THAT(FrontierOf(answer), SizeIs(0));
}

// Returns the words of each change that was run alone on the card.
std::vector<std::string> RunAlone(const Answer& answer) {
  std::vector<std::string> words;
  for (const TriedRemedy& tried : answer.remedies)
    if (tried.was_run && tried.changes.size() == 1)
      words.push_back(tried.changes.front().HookWord());
  return words;
}

TEST(CheapestSearchTest, ProgramWhoseTimeIsNotKnownMayUseOnePoolForAllGraphs) {
  LayeredTraining serving;
  serving.has_time = false;
  serving.activations = 0;
  serving.graph_pools = 8 * kGiB;
  EXPECT_EQ(Recommended(*Ask(serving)), "graph_pool");
}

TEST(CheapestSearchTest, ProgramWhoseTimeIsNotKnownIsNotRunWithWhatHasNoPlaces) {
  LayeredTraining training;
  training.has_time = false;
  const Answer answer = *Ask(training);
  // Both allocators have no hook.
  EXPECT_THAT(RunAlone(answer),
              ElementsAre("", "", "fused", "checkpoint", "lora", "second_card", "balanced"));
  const auto pool = std::find_if(
      answer.remedies.begin(), answer.remedies.end(),
      [](const TriedRemedy& tried) { return tried.changes.front().hook == "graph_pool"; });
  ASSERT_NE(pool, answer.remedies.end());
  EXPECT_FALSE(pool->had_effect);
}

TEST(CheapestSearchTest, ProgramWhoseTimeAndPlacesAreNotKnownIsRunWithEachChange) {
  LayeredTraining training;
  training.has_time = false;
  training.fails_if_looked_at = true;
  const Answer answer = *Ask(training);
  EXPECT_THAT(training.ran, Contains("without a change, again").Times(1));
  EXPECT_THAT(RunAlone(answer), Contains("graph_pool"));
  EXPECT_EQ(Recommended(answer), "checkpoint");
}

TEST(CheapestSearchTest, ActivationsOfOneLayerAreTriedOnTheHostBeforeThoseOfAll) {
  LayeredTraining training;
  training.has_time = false;
  training.can_offload = true;
  const Answer answer = *Ask(training);
  EXPECT_THAT(training.ran,
              Contains("activations in host memory of 1 of 16 layers, without a limit"));
  EXPECT_THAT(RunAlone(answer), Contains("activations_on_host=16"));
}

TEST(CheapestSearchTest, ChangeIsPartOfACombinationThoughTheProgramFailsBeforeItIsMade) {
  LayeredTraining training;
  training.has_time = false;
  training.fails_early = true;
  training.foreach_copies = 8 * kGiB;  // the update needs 28 GiB, or 20 if it is fused
  EXPECT_EQ(Recommended(*Ask(training)), "fused + checkpoint");
}

// Returns the last change of each run that no other beats, of those that come at no price.
std::vector<std::string> BestAtNoPrice(const std::vector<FrontierPoint>& points) {
  std::vector<std::string> best;
  for (const FrontierPoint& point : points) {
    if (!point.is_on_frontier || point.has_price()) continue;
    best.push_back(point.changes.empty() ? "unchanged" : point.changes.back().HookWord());
  }
  return best;
}

TEST(FrontierTest, OnlyRunsThatNoOtherBeatsAreOnIt) {
  LayeredTraining training;
  const std::vector<FrontierPoint> points = FrontierOf(*Ask(training));
  EXPECT_THAT(BestAtNoPrice(points),
              ElementsAre("fused", "checkpoint=12", "checkpoint=13", "checkpoint"));
  for (const FrontierPoint& point : points)
    EXPECT_EQ(point.is_plan,
              !point.changes.empty() && point.changes.back().HookWord() == "checkpoint=12");
}

TEST(FrontierTest, RunOnAnotherCardKeepsResultsAndBeatsNoneThatComesAtNoPrice) {
  LayeredTraining training;
  training.lasting = 4 * kGiB;
  training.serving = 16 * kGiB;
  const std::vector<FrontierPoint> points = FrontierOf(*Ask(training));
  const auto moved = std::find_if(points.begin(), points.end(), [](const FrontierPoint& point) {
    return !point.changes.empty() && point.changes[0].hook == "second_card";
  });
  ASSERT_NE(moved, points.end());
  EXPECT_EQ(moved->needs, 20 * kGiB);
  EXPECT_TRUE(moved->is_on_frontier);
  EXPECT_TRUE(moved->takes_another_card);
  EXPECT_FALSE(moved->may_change_results);
  EXPECT_THAT(BestAtNoPrice(points),
              ElementsAre("fused", "checkpoint=12", "checkpoint=13", "checkpoint"));
}

}  // namespace
}  // namespace memtrace::fit
