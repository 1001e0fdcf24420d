// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/run_detail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/tools/analysis/named_program.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using trace::Role;

CardDetail DetailOfCard(const NamedProgram& program, const DetailLimits& limits = {}) {
  return DetailOf(program, *Explain(program), limits).cards[0];
}

// Limits with so few pieces that small blocks are left out, and little is exact.
DetailLimits Tight() {
  DetailLimits limits;
  limits.columns = 10;
  limits.pieces = 3;
  limits.around = 2;
  limits.failures = 1;
  return limits;
}

// A thousand small blocks, one after the other, then two large ones, the second of which is freed.
NamedProgram SmallAndLarge() {
  NamedProgram program;
  for (uint64_t i = 0; i < 1000; ++i) program.Allocate(1U << 20U, 64).Free(1U << 20U);
  program.Allocate(0, 8000).Allocate(10'000, 9000).Free(10'000);
  for (uint64_t i = 0; i < 1000; ++i) program.Allocate(1U << 20U, 64).Free(1U << 20U);
  return program;
}

TEST(RunDetailTest, FewBlocksAreAllPieces) {
  NamedProgram program;
  program.Allocate({.address = 512, .requested = 100, .allocated = 512, .stream = 7});
  program.Add(trace::FreeRequested{0, 512}).Allocate(4096, 50).Add(trace::FreeCompleted{0, 512});
  const CardDetail card = DetailOfCard(program);
  EXPECT_EQ(card.choice.least, 0U);
  ASSERT_THAT(card.pieces, SizeIs(2));
  const Piece& first = card.pieces[0];
  EXPECT_EQ(first.born, 1U);
  EXPECT_EQ(first.let_go, 2U);
  EXPECT_EQ(first.gone, 4U);
  EXPECT_EQ(first.slack, 412U);
  EXPECT_EQ(card.pieces[1].let_go, 0U);
}

TEST(RunDetailTest, OnlyLargeOnesOfManyBlocksArePieces) {
  const NamedProgram program = SmallAndLarge();
  const CardDetail card = DetailOfCard(program, Tight());
  EXPECT_GT(card.choice.least, 64U);
  EXPECT_LE(card.choice.least, 8000U);
  uint64_t large = 0;
  for (const Piece& piece : card.pieces) large += piece.bytes >= 8000 ? 1 : 0;
  EXPECT_EQ(large, 2U);
}

TEST(RunDetailTest, EveryBlockAroundThePeakIsAPiece) {
  const NamedProgram program = SmallAndLarge();
  const CardDetail card = DetailOfCard(program, Tight());
  ASSERT_THAT(card.choice.exact, SizeIs(1));
  const EventRange exact = card.choice.exact[0];
  EXPECT_EQ(exact.first, 3000U);  // the peak is the second large block's
  EXPECT_EQ(exact.last, 3004U);
  uint64_t small = 0;
  for (const Piece& piece : card.pieces) small += piece.bytes == 64 ? 1 : 0;
  EXPECT_EQ(small, 1U);  // its free is the event before
}

TEST(RunDetailTest, EveryBlockAroundARequestedMomentIsAPiece) {
  DetailLimits limits = Tight();
  limits.moments = {500};
  const CardDetail card = DetailOfCard(SmallAndLarge(), limits);
  ASSERT_THAT(card.choice.exact, SizeIs(2));
  EXPECT_EQ(card.choice.exact[0].first, 498U);
  EXPECT_EQ(card.choice.exact[0].last, 502U);
}

TEST(RunDetailTest, ColumnsBeginAtTheBoundsOfExactRanges) {
  const CardDetail card = DetailOfCard(SmallAndLarge(), Tight());
  std::vector<uint64_t> begins;
  begins.reserve(card.curve.columns.size());
  for (const UsageColumn& column : card.curve.columns) begins.push_back(column.first_event);
  EXPECT_THAT(begins, testing::Contains(3000U));
  EXPECT_THAT(begins, testing::Contains(3005U));
}

TEST(RunDetailTest, NamesAndTheRestSumToTheMaximumOfEachColumn) {
  NamedProgram program;
  const trace::StringId policy = program.Name("policy");
  const trace::StringId reference = program.Name("reference");
  for (uint64_t i = 0; i < 40; ++i) {
    program.Allocate({.address = i * 1000,
                      .requested = 100 + i,
                      .stack = static_cast<trace::StackId>(1 + i % 5),
                      .owner = i % 2 == 0 ? policy : reference});
    if (i % 3 == 0) program.Free(i * 1000);
  }
  DetailLimits limits;
  limits.columns = 7;
  limits.keys = 2;
  const CardDetail card = DetailOfCard(program, limits);
  for (const UsageGroups* groups : {&card.by_owner, &card.by_module, &card.by_line}) {
    EXPECT_LE(groups->keys.size(), 2U);
    for (size_t column = 0; column < card.curve.columns.size(); ++column) {
      uint64_t sum = groups->rest[column];
      for (const UsageKey& key : groups->keys) sum += key.bytes[column];
      EXPECT_EQ(sum, card.curve.columns[column].most) << column;
    }
  }
  EXPECT_EQ(card.by_owner.keys[0].name, "reference");
  EXPECT_THAT(card.by_line.rest, testing::Contains(testing::Gt(0U)));
}

TEST(RunDetailTest, MappingsHaveTheirFirstAndLastEvent) {
  NamedProgram program;
  program.Add(trace::Reserve{0, 4096, 65536, 0}).Add(trace::Map{0, 4096, 8192, 0});
  program.Allocate(4096, 100).Add(trace::Unmap{0, 8192, 4096});
  const CardDetail card = DetailOfCard(program);
  ASSERT_THAT(card.reserved, SizeIs(1));
  EXPECT_EQ(card.reserved[0].from, 1U);
  ASSERT_THAT(card.mapped, SizeIs(2));
  EXPECT_EQ(card.mapped[0].address, 4096U);
  EXPECT_EQ(card.mapped[0].from, 2U);
  EXPECT_EQ(card.mapped[0].until, 0U);
  EXPECT_EQ(card.mapped[1].address, 8192U);
  EXPECT_EQ(card.mapped[1].until, 4U);
}

TEST(RunDetailTest, ClockIncludesTheLastEventAndExactRanges) {
  const NamedProgram program = SmallAndLarge();
  DetailLimits limits = Tight();
  limits.clock = 10;
  const RunDetail detail = DetailOf(program, *Explain(program), limits);
  EXPECT_LE(detail.clock.size(), 20U);
  EXPECT_EQ(detail.clock.back().event, program.size());
  EXPECT_EQ(detail.clock.back().ns, program.size() * 1000);
  EXPECT_EQ(detail.clock.front().event, 1U);
  std::vector<uint64_t> events;
  events.reserve(detail.clock.size());
  for (const ClockPoint& point : detail.clock) events.push_back(point.event);
  for (uint64_t event = 3000; event <= 3004; ++event) EXPECT_THAT(events, testing::Contains(event));
}

TEST(RunDetailTest, OnlyTheLastFailuresAreExact) {
  NamedProgram program;
  for (uint64_t i = 0; i < 50; ++i) program.Allocate(i * 1000, 100).Fail(1 << 20);
  DetailLimits limits = Tight();
  limits.failures = 2;
  const CardDetail card = DetailOfCard(program, limits);
  EXPECT_THAT(card.curve.failures, SizeIs(50));
  ASSERT_THAT(card.choice.exact, SizeIs(1));  // they touch
  EXPECT_EQ(card.choice.exact[0].first, 96U);
  EXPECT_EQ(card.choice.exact[0].last, 100U);
}

TEST(LeastBytesTest, IsAPowerOfTwoThatLimitsTheNumberOfBlocks) {
  UsageCurve curve;
  curve.blocks_by_size[3] = 100;
  curve.blocks_by_size[10] = 5;
  curve.blocks_by_size[12] = 4;
  EXPECT_EQ(LeastBytesFor(curve, 200), 0U);
  EXPECT_EQ(LeastBytesFor(curve, 100), 16U);
  EXPECT_EQ(LeastBytesFor(curve, 9), 16U);
  EXPECT_EQ(LeastBytesFor(curve, 8), 2048U);
  EXPECT_EQ(LeastBytesFor(curve, 3), 8192U);
}

}  // namespace
}  // namespace memtrace::analysis
