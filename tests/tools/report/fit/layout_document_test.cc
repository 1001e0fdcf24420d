// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/layout_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

using fit::Layout;
using fit::LayoutAnswer;
using fit::LayoutVerdict;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kGiB = uint64_t{1} << 30;

Layout LayoutOf(const std::string& tp, LayoutVerdict verdict) {
  Layout layout;
  layout.values = {tp};
  layout.verdict = verdict;
  layout.job = launch::JobRanks{.world = 16, .cards = 8, .real = {0, 8}};
  layout.outcome.processes.emplace_back();
  layout.fullest.card = 8;
  layout.fullest.total = 70 * kGiB;
  return layout;
}

LayoutAnswer AnswerOf(std::vector<Layout> layouts) {
  LayoutAnswer answer;
  answer.cards = {"8x80GiB"};
  answer.card_bytes = std::vector<uint64_t>(16, 80 * kGiB);
  answer.options = {"tp"};
  answer.layouts = std::move(layouts);
  answer.margin_percent = 5;
  return answer;
}

// Returns the text on one line.
std::string TextOfAnswer(const LayoutAnswer& answer) {
  std::string text = TextOf(LayoutDocument(answer));
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  return text;
}

TEST(LayoutDocumentTest, RecommendedLayoutAndItsTrafficAreNamed) {
  LayoutAnswer answer =
      AnswerOf({LayoutOf("2", LayoutVerdict::kDoesNotFit), LayoutOf("4", LayoutVerdict::kFits)});
  answer.recommended = 1;
  answer.layouts[1].cost.sent_bytes_network = 3 * kGiB;
  EXPECT_THAT(
      TextOfAnswer(answer),
      AllOf(
          StartsWith(
              "1 of 2 layouts FITS. Recommended is tp=4. In a step, the rank that sends most sends "
              "3.00 GiB over the network,"),
          HasSubstr("Rank 8 needs most: 70.00 GiB of its card's 80.00 GiB."),
          HasSubstr("Not every rank leaves 5 % of its card.")));
  EXPECT_EQ(nlohmann::json::parse(JsonLayouts(answer))["layouts"][1]["fullest"]["rank"], 8);
}

TEST(LayoutDocumentTest, LayoutsThatFailDoNotSayThatTheCardIsTooSmall) {
  Layout failed = LayoutOf("3", LayoutVerdict::kFailed);
  failed.reason = "train.py:3 raises ValueError";
  EXPECT_THAT(TextOfAnswer(AnswerOf({failed, failed})),
              AllOf(StartsWith("NOT KNOWN. The program fails by itself in each of 2 layouts."),
                    HasSubstr("train.py:3 raises ValueError"), Not(HasSubstr("DOES NOT FIT"))));
  EXPECT_THAT(TextOfAnswer(AnswerOf({failed, LayoutOf("2", LayoutVerdict::kDoesNotFit)})),
              StartsWith("DOES NOT FIT. None of 2 layouts fits."));
}

TEST(LayoutDocumentTest, MomentsThatNoRunSawAreNamed) {
  LayoutAnswer answer = AnswerOf({LayoutOf("4", LayoutVerdict::kFits)});
  EXPECT_THAT(TextOfAnswer(answer), Not(HasSubstr("not seen")));
  answer.layouts[0].outcome.outlook.is_whole = false;
  answer.layouts[0].outcome.gaps = {{"evaluation", "train.py:61 calls eval().", ""}};
  EXPECT_THAT(TextOfAnswer(answer), HasSubstr("What comes later was not seen: an evaluation."));
  EXPECT_EQ(nlohmann::json::parse(JsonLayouts(answer))["not_seen"][0], "evaluation");
  answer.layouts[0].outcome.outlook.is_whole = true;
  EXPECT_THAT(TextOfAnswer(answer), Not(HasSubstr("not seen")));
}

TEST(LayoutDocumentTest, StoppedSearchDoesNotSayThatNothingFits) {
  LayoutAnswer answer = AnswerOf({LayoutOf("2", LayoutVerdict::kDoesNotFit)});
  answer.untried = 3;
  EXPECT_THAT(TextOfAnswer(answer), StartsWith("NOT KNOWN. None of 1 layouts is known to fit. The "
                                               "search was stopped before 3 others."));
}

}  // namespace
}  // namespace memtrace::report
