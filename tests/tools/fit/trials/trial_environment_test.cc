// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/trial_environment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace memtrace::fit {
namespace {

constexpr uint64_t kLayer = 1 << 20;
constexpr uint64_t kNoLayer = 0;

launch::Environment Placed(const Trial& trial, uint64_t layer_bytes,
                           launch::Environment environment = {}) {
  FileKeeping keeping;
  keeping.layer_bytes = layer_bytes;
  SetPlace(trial, "/trial", keeping, environment);
  return environment;
}

launch::Environment Tasked(const Trial& trial, launch::Environment environment = {}) {
  SetTask(trial, environment);
  return environment;
}

uint64_t MonotonicSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

TEST(TrialEnvironmentTest, LayerKeepsTheWritesOfATrialThatHasOne) {
  const launch::Environment with = Placed(Trial(), kLayer, {{"MEMTRACE_FIT_SCRATCH", "/outer"}});
  EXPECT_FALSE(with.contains("MEMTRACE_FIT_SCRATCH"));
  EXPECT_EQ(with.at("MEMTRACE_FIT_SAVES"), "/trial/saves");
  EXPECT_EQ(with.at("TMPDIR"), "/trial/tmp");
}

TEST(TrialEnvironmentTest, PackageKeepsTheWritesOfATrialWithoutALayer) {
  const launch::Environment without =
      Placed(Trial(), kNoLayer, {{"MEMTRACE_FIT_SAVES", "/outer"}, {"TMPDIR", "/tmp"}});
  EXPECT_EQ(without.at("MEMTRACE_FIT_SCRATCH"), "/trial/files");
  EXPECT_FALSE(without.contains("MEMTRACE_FIT_SAVES"));
  EXPECT_EQ(without.at("TMPDIR"), "/tmp") << "it is the user's";
}

TEST(TrialEnvironmentTest, OnlyATrialThatMayBeForkedListsItsImports) {
  Trial trial;
  EXPECT_EQ(Placed(trial, kLayer).at("MEMTRACE_FIT_IMPORTS"), "/trial/imports.json");
  trial.stub = "stub.py";
  EXPECT_FALSE(
      Placed(trial, kLayer, {{"MEMTRACE_FIT_IMPORTS", "/outer"}}).contains("MEMTRACE_FIT_IMPORTS"));
}

TEST(TrialEnvironmentTest, VariablesOfTheTrialReplaceTheUsers) {
  Trial trial;
  trial.set = {{"BATCH", "8"}};
  const launch::Environment environment = Placed(trial, kLayer, {{"BATCH", "4"}, {"HOME", "/ada"}});
  EXPECT_EQ(environment.at("BATCH"), "8");
  EXPECT_EQ(environment.at("HOME"), "/ada");
}

TEST(TrialEnvironmentTest, ChangesOfAnOuterRunAreNotMadeInATrial) {
  launch::Environment outer;
  for (const char* name : {"MEMTRACE_FIT_CHANGES", "MEMTRACE_FIT_STUB", "MEMTRACE_FIT_MOMENTS",
                           "MEMTRACE_FIT_ALSO", "MEMTRACE_WITH"})
    outer[name] = "outer";
  for (const auto& [name, value] : Tasked(Trial(), outer)) EXPECT_NE(value, "outer") << name;
}

TEST(TrialEnvironmentTest, TrialIsToldItsChangesAndCalls) {
  Trial trial;
  trial.changes = "checkpoint";
  trial.also = {"train('a')", "test()"};
  trial.least_steps = 3;
  trial.most_steps = 5;
  const launch::Environment environment = Tasked(trial);
  EXPECT_EQ(environment.at("MEMTRACE_FIT_CHANGES"), "checkpoint");
  EXPECT_EQ(environment.at("MEMTRACE_FIT_ALSO"), R"json(["train('a')","test()"])json");
  EXPECT_EQ(environment.at("MEMTRACE_FIT_STEPS"), "3:5");
}

TEST(TrialEnvironmentTest, EndIsTheTrialsSecondsFromNow) {
  Trial trial;
  trial.seconds = 600;
  const uint64_t before = MonotonicSeconds();
  const uint64_t end = std::stoull(Tasked(trial).at("MEMTRACE_FIT_ENDS"));
  EXPECT_GE(end, before + 600);
  EXPECT_LE(end, MonotonicSeconds() + 600);
}

}  // namespace
}  // namespace memtrace::fit
