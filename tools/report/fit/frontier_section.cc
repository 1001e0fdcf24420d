// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/frontier_section.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "messages/message.h"
#include "tools/fit/cheapest/remedy_trial.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::FrontierPoint;
using fit::TriedRemedy;

constexpr size_t kNameWidth = 44;

std::string ShownName(const TriedRemedy& tried) { return Printable(fit::NameOf(tried.changes)); }

// Returns the point of the run at `place`, if its time is known.
std::optional<double> TimeOf(const Answer& answer, size_t place) {
  const std::string name = fit::NameOf(answer.remedies[place].changes);
  for (const FrontierPoint& point : fit::FrontierOf(answer))
    if (fit::NameOf(point.changes) == name) return point.time;
  return std::nullopt;
}

std::string StepText(const Answer& answer, size_t place) {
  const std::optional<double> time = TimeOf(answer, place);
  if (!time) return "";
  return Message("A step is estimated to take $0 times as long as it does now.", TimeText(*time));
}

// Says which plans with one degree less were run and do not fit.
std::string OneLessText(const Answer& answer, const std::vector<size_t>& places, bool with_margin) {
  std::string text;
  for (const size_t place : places) {
    const std::string name = ShownName(answer.remedies[place]);
    const std::string sentence =
        with_margin ? Message("A run with $0 does not fit a card that is $1 % smaller.", name,
                              answer.margin_percent)
                    : Message("A run with $0 does not fit.", name);
    text = JoinedSentences({text, sentence});
  }
  return text;
}

std::string WithoutMarginText(const Answer& answer) {
  const fit::CheapestPlan& cheapest = *answer.cheapest;
  const bool is_another = cheapest.without_margin && cheapest.without_margin != cheapest.plan;
  if (!cheapest.plan || !is_another) return "";
  return JoinedSentences({Message("Without the margin, $0 fits.",
                                  ShownName(answer.remedies[*cheapest.without_margin])),
                          OneLessText(answer, cheapest.one_less_without_margin, false)});
}

TableRow RowOf(const Answer& answer, const FrontierPoint& point) {
  TableRow row{.cells = {PointName(point), FormatBytes(point.needs), TimeText(point.time),
                         PointVerdict(point, answer.margin_percent)}};
  if (Width(row.cells[0]) > kNameWidth) {
    row.below.push_back(row.cells[0]);
    row.cells[0] = CountedMessage(point.changes.size(), "1 change", "$0 changes",
                                  FormatCount(point.changes.size()));
  }
  if (point.is_plan) row.remarks.push_back(Message("the cheapest"));
  if (point.may_change_results) row.remarks.push_back(Message("may change results"));
  if (point.takes_another_card) row.remarks.push_back(Message("takes another card"));
  return row;
}

}  // namespace

std::string PointName(const FrontierPoint& point) {
  return point.changes.empty() ? Message("unchanged") : Printable(fit::NameOf(point.changes));
}

std::string PointVerdict(const FrontierPoint& point, uint64_t margin_percent) {
  if (!point.fits) return Message("does not fit");
  if (!point.has_margin || margin_percent == 0) return Message("fits");
  return Message("fits, with $0 % left", margin_percent);
}

std::string TimeText(double time) { return absl::StrFormat("%.2f", time); }

Section FrontierSection(const Answer& answer) {
  Section section{.id = "frontier",
                  .title = Message("FRONTIER"),
                  .subtitle = Message("runs that no other beats in both")};
  Table table;
  table.columns = {{"", kNameWidth},
                   {Message("needs"), 12, TableColumn::Kind::kFigure},
                   {Message("time"), 8, TableColumn::Kind::kFigure},
                   {"", 24}};
  for (const FrontierPoint& point : fit::FrontierOf(answer))
    if (point.is_on_frontier) table.rows.push_back(RowOf(answer, point));
  if (table.rows.size() < 2) return section;
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(
      Note{Message("The time of a step is an estimate, as a multiple of the unchanged program's. "
                   "The needs were seen in runs.")});
  return section;
}

std::string TextOfPlan(const Answer& answer) {
  const fit::CheapestPlan& cheapest = *answer.cheapest;
  const size_t place = cheapest.plan ? *cheapest.plan : *cheapest.without_margin;
  const std::string name = ShownName(answer.remedies[place]);
  const bool has_margin = cheapest.plan && answer.margin_percent > 0;
  const std::string what =
      has_margin ? Message(
                       "$0: the least time for a step, of all that also fit a card that is $1 % "
                       "smaller.",
                       name, answer.margin_percent)
                 : Message("$0: the least time for a step, of all that fit.", name);
  return JoinedSentences(
      {what, StepText(answer, place),
       OneLessText(answer, cheapest.plan ? cheapest.one_less : cheapest.one_less_without_margin,
                   has_margin),
       !cheapest.plan && answer.margin_percent > 0
           ? Message("No change tried was found to fit a card that is $0 % smaller.",
                     answer.margin_percent)
           : "",
       WithoutMarginText(answer),
       cheapest.is_complete ? ""
                            : Message("The runs were used up before all was tried; --trials allows "
                                      "more.")});
}

}  // namespace memtrace::report
