// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/activity_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tools/analysis/replayed/busy_time.h"

namespace memtrace::analysis {
namespace {

// Strings by number, as in a trace.
class Strings : public EventSource {
 public:
  void ForEach(const std::function<void(const trace::Event&)>& /*visit*/) const override {}
  std::string_view String(trace::StringId id) const override { return texts_[id]; }
  std::vector<trace::Frame> Stack(trace::StackId /*id*/) const override { return {}; }
  trace::StringId Id(std::string text) {
    texts_.push_back(std::move(text));
    return static_cast<trace::StringId>(texts_.size() - 1);
  }

 private:
  std::vector<std::string> texts_;
};

class ActivityWatchTest : public testing::Test {
 protected:
  void At(uint64_t time_ns, trace::Payload payload) {
    watch_.Apply({.time_ns = time_ns, .payload = std::move(payload)}, strings_);
  }
  void State(uint64_t time_ns, const std::string& state) {
    At(time_ns, trace::Annotate{.key = strings_.Id("cupti.state"), .value = strings_.Id(state)});
  }

  Strings strings_;
  ActivityWatch watch_;
};

TEST_F(ActivityWatchTest, GapLastsFromPauseToResume) {
  State(100, "on");
  State(200, "paused");
  State(500, "on");
  At(1000, trace::Step{.number = 1});
  EXPECT_EQ(watch_.gaps(), 1U);
  EXPECT_EQ(watch_.gap_ns(), 300U);
  EXPECT_TRUE(watch_.WasOn(100, 200));
  EXPECT_FALSE(watch_.WasOn(150, 600));
  EXPECT_FALSE(watch_.WasOn(50, 150));
  EXPECT_TRUE(watch_.WasOn(500, 1000));
}

TEST_F(ActivityWatchTest, UnfinishedPauseLastsToTheEndOfTheTrace) {
  State(100, "on");
  State(200, "paused");
  At(1000, trace::Step{.number = 1});
  EXPECT_EQ(watch_.gaps(), 1U);
  EXPECT_EQ(watch_.gap_ns(), 800U);
}

TEST_F(ActivityWatchTest, TraceWithoutActivitiesHasNoGap) {
  State(100, "refused");
  At(1000, trace::Step{.number = 1});
  EXPECT_FALSE(watch_.was_on());
  EXPECT_EQ(watch_.gaps(), 0U);
  EXPECT_EQ(watch_.state(), "refused");
}

TEST_F(ActivityWatchTest, TimeBelongsToTheStepThatHasBegun) {
  State(0, "on");
  At(100, trace::Step{.number = 1});
  At(200, trace::Step{.number = 2});
  EXPECT_EQ(watch_.StepAt(99), 0U);
  EXPECT_EQ(watch_.StepAt(100), 1U);
  EXPECT_EQ(watch_.StepAt(1000), 2U);
}

TEST_F(ActivityWatchTest, KernelsAreCountedByCardAndWithTheirBlock) {
  At(10, trace::Activity{.start_ns = 1, .duration_ns = 5});
  At(10, trace::Activity{.device = 1, .start_ns = 3, .duration_ns = 2, .block = 7});
  At(10, trace::Activity{.kind = trace::ActivityKind::kCopy, .start_ns = 3, .duration_ns = 9});
  EXPECT_EQ(watch_.kernels(), 2U);
  EXPECT_EQ(watch_.tied_kernels(), 1U);
  EXPECT_EQ(watch_.copies(), 1U);
  EXPECT_EQ(watch_.kernel_time().at(0).total(), 5U);
  EXPECT_EQ(watch_.kernel_time().at(1).total(), 2U);
}

TEST(BusyTimeTest, OverlapsCountOnceInAnyOrder) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    BusyTime busy;
    std::vector<bool> seconds(400);
    for (int i = 0; i < 40; ++i) {
      const uint64_t begin = random() % 380;
      const uint64_t end = begin + random() % 20;
      busy.Add(begin, end);
      for (uint64_t second = begin; second < end; ++second) seconds[second] = true;
    }
    const auto expected = std::count(seconds.begin(), seconds.end(), true);
    ASSERT_EQ(busy.total(), static_cast<uint64_t>(expected)) << "round " << round;
  }
}

TEST(BusyTimeTest, MoreIntervalsThanAreKeptAddUp) {
  BusyTime busy;
  for (uint64_t i = 0; i < 10 * BusyTime::kMost; ++i) busy.Add(10 * i, 10 * i + 3);
  EXPECT_EQ(busy.total(), 30 * BusyTime::kMost);
}

}  // namespace
}  // namespace memtrace::analysis
