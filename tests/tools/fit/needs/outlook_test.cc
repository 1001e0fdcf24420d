// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/outlook.h"

#include <gtest/gtest.h>

#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"

namespace memtrace::fit {
namespace {

constexpr uint64_t kCard = 3000;

// A process that was stopped after `steps`, whose peak rose at each of `rises`.
ProcessNeed Stopped(uint64_t steps, const std::vector<PeakRise>& rises) {
  ProcessNeed process;
  process.steps = steps;
  process.end = TrialEnd::kSteps;
  CardNeed& need = process.cards.emplace_back();
  need.rises = rises;
  need.peak_allocated = need.total = rises.empty() ? 0 : rises.back().bytes;
  return process;
}

Outcome Seen(ProcessNeed process) {
  Outcome outcome;
  outcome.completed = true;
  outcome.processes.push_back(std::move(process));
  outcome.outlook = OutlookOf(outcome.processes, {kCard});
  return outcome;
}

const std::vector<PeakRise> kSettled = {{1, 1000}, {2, 1500}};
const std::vector<PeakRise> kRising = {{1, 1000}, {2, 1500}, {3, 1600}, {4, 1700}, {5, 1800}};

TEST(OutlookTest, SteadyPeakFits) {
  const Outcome outcome = Seen(Stopped(5, kSettled));
  EXPECT_EQ(outcome.verdict(), FitVerdict::kFits);
  EXPECT_FALSE(outcome.outlook.is_whole);
  EXPECT_EQ(outcome.outlook.last_rise, 2U);
}

TEST(OutlookTest, RisingPeakPredictsTheStepThatFillsTheCard) {
  const Outcome outcome = Seen(Stopped(5, kRising));
  EXPECT_EQ(outcome.verdict(), FitVerdict::kWillNotFit);
  EXPECT_EQ(outcome.outlook.full_in_step, 18U);  // 1,200 bytes are left, 100 go a step
}

TEST(OutlookTest, ProgramThatPlansFewerStepsThanFillTheCardIsNotKnownToRunOut) {
  ProcessNeed process = Stopped(5, kRising);
  process.planned_steps = 17;
  Outcome outcome = Seen(process);
  EXPECT_TRUE(outcome.outlook.EndsBeforeFull());
  EXPECT_EQ(outcome.verdict(), FitVerdict::kNotKnown);
  process.planned_steps = 18;  // the card is full in this one
  outcome = Seen(process);
  EXPECT_FALSE(outcome.outlook.EndsBeforeFull());
  EXPECT_EQ(outcome.verdict(), FitVerdict::kWillNotFit);
}

TEST(OutlookTest, RisingProgramIsRunToTheEndThatItPlans) {
  ProcessNeed process = Stopped(5, kRising);
  process.planned_steps = 12;
  Outcome outcome = Seen(process);
  outcome.seconds = 5;
  const auto further = UntilFull(Trial(), outcome);
  ASSERT_TRUE(further);
  EXPECT_GT(further->most_steps, 12U);  // so the program ends by itself
  EXPECT_LT(further->most_steps, 18U);
  outcome.seconds = 5000;  // a step takes 1000 s
  EXPECT_FALSE(UntilFull(Trial(), outcome));
}

TEST(OutlookTest, WhatStaysFillsTheCardFromThePeakOfTheLastStepOn) {
  ProcessNeed process = Stopped(6, kSettled);
  process.cards[0].floors = {{2, 0}, {3, 100}, {4, 200}, {5, 300}, {6, 400}};
  process.cards[0].below_peak = 500;
  const Outcome outcome = Seen(std::move(process));
  EXPECT_EQ(outcome.verdict(), FitVerdict::kWillNotFit);
  ASSERT_TRUE(outcome.outlook.climb);
  EXPECT_TRUE(outcome.outlook.climb->is_of_floor);
  EXPECT_EQ(outcome.outlook.full_in_step, 27U);  // 2,000 bytes are above the peak of step 6
}

TEST(OutlookTest, ClimbThatFillsACardFirstCounts) {
  ProcessNeed process = Stopped(6, kRising);
  process.cards[0].floors = {{2, 0}, {3, 1}, {4, 2}, {5, 3}, {6, 4}};
  const Outcome outcome = Seen(std::move(process));
  ASSERT_TRUE(outcome.outlook.climb);
  EXPECT_FALSE(outcome.outlook.climb->is_of_floor);
}

TEST(OutlookTest, RequestThatFailsAfterAClimbHasRunOut) {
  ProcessNeed process = Stopped(5, kRising);
  process.end = TrialEnd::kProgram;
  process.cards[0].total = kCard - 300;
  process.failed = FailedLine{.line = "train.py:3", .bytes = 100, .short_by = 10, .at = {}};
  process.failed->at.step = 6;
  Outcome outcome = Seen(process);
  outcome.completed = false;
  EXPECT_TRUE(outcome.HasRunOut());
  process.cards[0].rises = kSettled;
  outcome = Seen(process);
  outcome.completed = false;
  EXPECT_FALSE(outcome.HasRunOut());
  process.cards[0].rises = {{1, 1000}, {2, 1500}, {3, 1501}, {4, 1502}, {5, 1503}};
  outcome = Seen(process);
  outcome.completed = false;
  EXPECT_FALSE(outcome.HasRunOut());  // a large request failed; growth of a byte is not the reason
}

TEST(OutlookTest, PeakThatRoseInTheLastStepIsNotKnown) {
  EXPECT_EQ(Seen(Stopped(2, kSettled)).verdict(), FitVerdict::kNotKnown);
}

TEST(OutlookTest, CompletedProgramFitsEvenIfItsPeakRose) {
  ProcessNeed process = Stopped(5, kRising);
  process.end = TrialEnd::kProgram;
  EXPECT_EQ(Seen(std::move(process)).verdict(), FitVerdict::kFits);
}

TEST(OutlookTest, RunEndedAtItsTimeLimitIsNotKnown) {
  Outcome outcome = Seen(Stopped(5, kSettled));
  outcome.is_late = true;
  EXPECT_EQ(outcome.verdict(), FitVerdict::kNotKnown);
}

TEST(OutlookTest, RecoveredRequestDoesNotEndTheRun) {
  ProcessNeed process = Stopped(5, kSettled);
  process.failed = FailedLine{.line = "train.py:3", .bytes = 100, .short_by = 10, .at = {}};
  process.failures = 2;
  process.went_on = true;
  const Outcome outcome = Seen(std::move(process));
  EXPECT_TRUE(outcome.fits());
  EXPECT_FALSE(outcome.Failed());
  ASSERT_TRUE(outcome.LastRecoveredFailure());
  EXPECT_EQ(outcome.times_got_over(), 2U);
}

}  // namespace
}  // namespace memtrace::fit
