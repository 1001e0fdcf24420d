// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/memory_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace memtrace::analysis {
namespace {

// A run in words: "a4" requests 4 MiB and names them a, "-a" frees them.
StreamRequests Asked(const std::string& words) {
  RequestLog log;
  std::map<char, RequestLog::Place> alive;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (word[0] == '-') {
      if (const auto freed = alive.extract(word[1])) log.Free(freed.mapped());
    } else {
      alive[word[0]] = log.Allocate(0, 0, 1_MiB * std::stoul(word.substr(1))).value();
    }
  }
  return log.streams().at(0);
}

std::string Repeated(const std::string& words, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += words + " ";
  return all;
}

// Returns "2 | 5 4 6": sizes of the prologue and of the cycle.
std::string Sizes(const PlanSection& section) {
  std::string text;
  for (size_t i = 0; i < section.items.size(); ++i) {
    if (i == section.prologue) text += "| ";
    text += std::to_string(section.items[i].size >> 20) + " ";
  }
  return text;
}

// Plays the run by the plan. True if no two living blocks overlap.
bool FitsTheRun(const StreamRequests& run, const PlanSection& section) {
  struct Alive {
    PlanSection::Item item;
    size_t death;
  };
  std::vector<Alive> alive;
  for (size_t i = 0; i < run.blocks.size(); ++i) {
    if (i >= section.items.size() && section.cycle() == 0) return true;
    const size_t item =
        i < section.items.size() ? i : section.prologue + (i - section.prologue) % section.cycle();
    const PlanSection::Item place = section.items[item];
    if (place.size != run.blocks[i].size) return false;
    std::erase_if(alive, [&](const Alive& other) { return other.death <= i; });
    for (const Alive& other : alive) {
      const bool is_clear = other.item.offset + other.item.size <= place.offset ||
                            place.offset + place.size <= other.item.offset;
      if (!is_clear) return false;
    }
    alive.push_back({place, run.blocks[i].death});
  }
  return true;
}

constexpr const char* kStep = "x8 y4 z6 -x w8 -y -z -w";

TEST(MemoryPlanTest, RepeatedStepsBecomeACycleAfterAPrologue) {
  const StreamRequests run = Asked("p10 q20 " + Repeated(kStep, 4));
  const StreamPlan plan = PlanStream(run, false);
  EXPECT_EQ(Sizes(plan.section), "10 20 | 8 4 6 8 ");
  EXPECT_EQ(plan.section.bytes, 48_MiB);
  EXPECT_EQ(plan.lower_bound, 48_MiB);
  EXPECT_EQ(plan.repetition.period, 4u);
  EXPECT_EQ(plan.repetition.times(), 4);
  EXPECT_EQ(plan.planned, plan.requested);
  EXPECT_TRUE(FitsTheRun(run, plan.section));
  EXPECT_TRUE(Plan::Check(plan.section).ok());
}

// The recording begins within a step, but the cycle is cut where little is alive.
TEST(MemoryPlanTest, CycleBeginsWhereTheFewestBytesAreAlive) {
  const StreamRequests run = Asked("z6 w8 -z -w " + Repeated(kStep, 4));
  const StreamPlan plan = PlanStream(run, false);
  EXPECT_EQ(Sizes(plan.section), "6 8 | 8 4 6 8 ");
  EXPECT_EQ(plan.section.bytes, 18_MiB);
  EXPECT_TRUE(FitsTheRun(run, plan.section));
}

// logits = model(x): the old logits are freed after the new ones exist.
TEST(MemoryPlanTest, BlocksThatOverlapTheirSuccessorDoubleTheCycle) {
  const StreamRequests run = Asked(Repeated("x8 a4 -b -x y8 b4 -a -y", 5) + "x8 a4");
  const StreamPlan plan = PlanStream(run, false);
  EXPECT_EQ(plan.section.cycle(), 4u);
  EXPECT_TRUE(FitsTheRun(run, plan.section));
}

TEST(MemoryPlanTest, LongestLifetimeCounts) {
  const StreamRequests run =
      Asked(Repeated(kStep, 2) + "x8 y4 z6 w8 -x -y -z -w " + Repeated(kStep, 2));
  const StreamPlan plan = PlanStream(run, false);
  EXPECT_EQ(plan.section.bytes, 26_MiB);
  EXPECT_TRUE(FitsTheRun(run, plan.section));
}

TEST(MemoryPlanTest, UnfreedLastStepDoesNotChangeThePlan) {
  const StreamRequests run = Asked(Repeated(kStep, 4) + "x8 y4 z6 -x w8");
  EXPECT_EQ(PlanStream(run, false).section.bytes, 18_MiB);
}

TEST(MemoryPlanTest, BlocksOfThePrologueThatAreFreedMakeRoom) {
  const StreamRequests run = Asked("p10 q50 -q " + Repeated(kStep, 4));
  EXPECT_EQ(PlanStream(run, false).section.bytes, 60_MiB);
}

TEST(MemoryPlanTest, RunThatNeverRepeatsIsAPrologue) {
  const StreamRequests run = Asked("a2 b3 -a c4 d5 -c e6 f7");
  const StreamPlan plan = PlanStream(run, false);
  EXPECT_EQ(Sizes(plan.section), "2 3 4 5 6 7 ");
  EXPECT_EQ(plan.section.cycle(), 0u);
  EXPECT_EQ(plan.planned, plan.requested);
  EXPECT_TRUE(FitsTheRun(run, plan.section));
}

TEST(MemoryPlanTest, FailedRunIsAPrologueWithTheFailedRequest) {
  RequestLog log;
  for (int i = 0; i < 10; ++i) log.Allocate(0, 0, 2_MiB);
  log.Fail(0, 0, 40_MiB);
  const MemoryPlan plan = PlanMemory(log);
  ASSERT_EQ(plan.streams.size(), 1u);
  EXPECT_TRUE(plan.streams[0].ends_in_failure);
  EXPECT_EQ(plan.streams[0].section.cycle(), 0u);
  EXPECT_EQ(plan.streams[0].section.bytes, 60_MiB);
  EXPECT_EQ(plan.streams[0].planned, 60_MiB);
  EXPECT_EQ(plan.requested, 60_MiB) << "what has a place was asked for";
}

TEST(MemoryPlanTest, RecoveredFailureIsNotPlanned) {
  RequestLog log;
  log.Fail(0, 0, 40_MiB);
  log.Allocate(0, 0, 20_MiB);
  const MemoryPlan plan = PlanMemory(log);
  EXPECT_FALSE(plan.streams.at(0).ends_in_failure);
  EXPECT_EQ(plan.streams[0].section.bytes, 20_MiB);
  EXPECT_EQ(plan.requested, 20_MiB);
}

TEST(MemoryPlanTest, TailIsNotPlanned) {
  const StreamRequests run = Asked(Repeated(kStep, 4) + "t30");
  const StreamPlan plan = PlanStream(run, false);
  EXPECT_EQ(plan.requested - plan.planned, 30_MiB);
}

TEST(MemoryPlanTest, StreamsAreNumberedPerCard) {
  RequestLog log;
  log.Allocate(0, 5, 2_MiB);
  log.Allocate(1, 6, 2_MiB);
  log.Allocate(0, 7, 2_MiB);
  const Plan plan = PlanMemory(log).plan();
  EXPECT_NE(plan.Find(DeviceIndex{0}, 1), nullptr);
  EXPECT_NE(plan.Find(DeviceIndex{1}, 0), nullptr);
  EXPECT_EQ(plan.Find(DeviceIndex{1}, 1), nullptr);
  EXPECT_EQ(Plan::Parse(plan.Text()).value(), plan);
}

}  // namespace
}  // namespace memtrace::analysis
