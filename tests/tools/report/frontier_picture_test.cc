// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/frontier_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::report {
namespace {

using fit::FrontierPoint;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// Draws the unchanged program beside this run, which needs less.
std::string DrawingWith(FrontierPoint point) {
  point.needs = 20 * kGiB;
  point.is_on_frontier = true;
  return DrawFrontier({.points = {FrontierPoint{.changes = {}, .needs = 30 * kGiB}, point}});
}

TEST(FrontierPictureTest, RunOnAnotherCardIsADiamondThatSaysSo) {
  const FrontierPoint moved{.changes = {}, .takes_another_card = true};
  EXPECT_THAT(DrawingWith(moved), AllOf(HasSubstr("It takes another card."),
                                        HasSubstr("diamond: may change results, or takes another"),
                                        Not(HasSubstr("It may change results."))));
  const FrontierPoint free{.changes = {}};
  EXPECT_THAT(DrawingWith(free),
              AllOf(Not(HasSubstr("It takes another card.")), Not(HasSubstr("diamond"))));
}

}  // namespace
}  // namespace memtrace::report
