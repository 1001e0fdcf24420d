// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/usage_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace memtrace::analysis {
namespace {

using trace::Role;

// Events of card 0, a microsecond apart.
class Program : public EventSource {
 public:
  template <typename Payload>
  Program& Add(const Payload& payload) {
    const uint64_t number = events_.size() + 1;
    events_.push_back({number, number * 1000, payload});
    return *this;
  }
  Program& Allocate(uint64_t address, uint64_t bytes) {
    return Add(trace::Allocate{.address = address, .requested = bytes, .allocated = bytes});
  }
  Program& Free(uint64_t address) {
    return Add(trace::FreeRequested{0, address}).Add(trace::FreeCompleted{0, address});
  }
  Program& Label(uint64_t address, uint64_t bytes, Role role) {
    return Add(trace::Relabel{.address = address, .size = bytes, .role = role});
  }
  uint64_t size() const { return events_.size(); }

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    for (const trace::Event& event : events_) visit(event);
  }
  std::string_view String(trace::StringId /*id*/) const override { return ""; }
  std::vector<trace::Frame> Stack(trace::StackId /*id*/) const override { return {}; }

 private:
  std::vector<trace::Event> events_;
};

UsageCurve Curve(const Program& program, size_t columns) {
  BlockIndex blocks(Evidence::kStated);
  program.ForEach([&blocks](const trace::Event& event) { blocks.Apply(event); });
  blocks.Finish();
  return CurveOf(program, blocks,
                 {.device = 0,
                  .events = program.size(),
                  .levels = 2 * columns,
                  .columns = columns,
                  .edges = {}});
}

uint64_t Sum(const UsageColumn& column) {
  return std::accumulate(column.by_role.begin(), column.by_role.end(), uint64_t{0});
}

TEST(UsageCurveTest, RiseBetweenTwoColumnsIsNotLost) {
  Program program;
  program.Allocate(0, 100);
  for (int i = 0; i < 500; ++i) program.Allocate(1000, 10).Free(1000);
  program.Allocate(5000, 7000).Free(5000);
  for (int i = 0; i < 500; ++i) program.Allocate(1000, 10).Free(1000);
  const UsageCurve curve = Curve(program, 20);
  EXPECT_LE(curve.columns.size(), 20U);
  uint64_t most = 0;
  for (const UsageColumn& column : curve.columns) most = std::max(most, column.most);
  EXPECT_EQ(most, 7100U);
  EXPECT_EQ(curve.columns.back().least, 100U);
}

TEST(UsageCurveTest, RolesSumToTheMaximumOfEachColumn) {
  Program program;
  program.Allocate(0, 100).Allocate(1000, 30).Label(0, 60, Role::kParameter);
  program.Label(1000, 30, Role::kActivation).Free(1000).Allocate(2000, 5);
  for (const UsageColumn& column : Curve(program, 3).columns) EXPECT_EQ(Sum(column), column.most);
  const UsageCurve whole = Curve(program, 1);
  ASSERT_EQ(whole.columns.size(), 1U);
  EXPECT_EQ(whole.columns[0].by_role[static_cast<size_t>(Role::kParameter)], 60U);
  EXPECT_EQ(whole.columns[0].by_role[static_cast<size_t>(Role::kActivation)], 30U);
}

TEST(UsageCurveTest, OnlyBlocksOfTheCardCountUntilTheirFreeIsRequested) {
  Program program;
  program.Allocate(0, 100).Add(trace::FreeRequested{0, 0});
  program.Add(trace::Allocate{.device = 1, .address = 0, .requested = 9000, .allocated = 9000});
  program.Allocate(500, 50).Add(trace::FreeCompleted{0, 0});
  const UsageCurve curve = Curve(program, 100);
  EXPECT_EQ(curve.columns.size(), program.size());
  EXPECT_EQ(curve.columns[3].most, 50U);
}

TEST(UsageCurveTest, FailuresStepsAndMappingsAreMarked) {
  Program program;
  program.Add(trace::Map{0, 0, 4096, 0}).Add(trace::Step{1}).Allocate(0, 100);
  program.Add(trace::OutOfMemory{.requested = 9000, .allocated = 9000, .cards = {}});
  program.Add(trace::Unmap{0, 0, 4096}).Add(trace::Step{2});
  const UsageCurve curve = Curve(program, 100);
  ASSERT_EQ(curve.failures.size(), 1U);
  EXPECT_EQ(curve.failures[0].event, 4U);
  EXPECT_EQ(curve.failures[0].requested, 9000U);
  ASSERT_EQ(curve.steps.size(), 2U);
  EXPECT_EQ(curve.steps[1].event, 6U);
  EXPECT_EQ(curve.columns[2].reserved, 4096U);
  EXPECT_EQ(curve.columns[5].reserved, 0U);
}

TEST(UsageCurveTest, MaximumOfAColumnIsHeldAfterItsEvent) {
  Program program;
  program.Allocate(0, 100).Free(0).Allocate(1000, 70).Allocate(2000, 20).Free(2000);
  const UsageCurve curve = Curve(program, 2);
  ASSERT_EQ(curve.columns.size(), 2U);
  EXPECT_EQ(curve.columns[0].most_event, 1U);
  EXPECT_EQ(curve.columns[1].first_event, 5U);
  EXPECT_EQ(curve.columns[1].most, 90U);
  EXPECT_EQ(curve.columns[1].most_event, 5U);
}

TEST(UsageCurveTest, LevelsAreFinerThanColumns) {
  Program program;
  for (uint64_t i = 0; i < 8; ++i) program.Allocate(i * 1000, 10);
  const UsageCurve curve = Curve(program, 2);
  ASSERT_EQ(curve.levels.size(), 4U);
  EXPECT_EQ(curve.levels[1].least, 30U);
  EXPECT_EQ(curve.levels[1].most, 40U);
}

}  // namespace
}  // namespace memtrace::analysis
