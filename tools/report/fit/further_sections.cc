// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/further_sections.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/report/fit/file_sentences.h"
#include "tools/report/fit/job_sections.h"
#include "tools/report/fit/verdict_sentences.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using Kind = TableColumn::Kind;

std::string SignedBytes(double bytes) {
  return FormatSignedBytes(static_cast<int64_t>(std::llround(bytes)));
}

// Leaves out terms below a thousandth of the need at the last value that was run.
std::string GrowthText(const fit::NeedFormula& growth, const fit::Scaling& scaling) {
  const auto last = static_cast<double>(scaling.points.back().value);
  const double noise = growth.At(last) / 1000;
  std::string text = SignedBytes(growth.constant);
  if (std::abs(growth.linear * last) > noise)
    text += " + " + SignedBytes(growth.linear) + " x " + Printable(scaling.name);
  if (std::abs(growth.quadratic * last * last) > noise)
    text += " + " + SignedBytes(growth.quadratic) + " x " + Printable(scaling.name) + "^2";
  return text;
}

// True if more points were run than the formula was fitted to, so that they confirm it.
bool IsFormulaConfirmed(const fit::Scaling& scaling) {
  constexpr size_t kLaidThrough = 3;
  return std::count_if(scaling.points.begin(), scaling.points.end(), [&](const auto& point) {
           return point.value >= scaling.holds_from;
         }) > static_cast<ptrdiff_t>(kLaidThrough);
}

TableRow PointRow(const fit::Scaling& scaling, const fit::Scaling::Point& point, bool has_proof) {
  TableRow row{.cells = {Printable(scaling.name) + "=" + FormatCount(point.value),
                         PhaseWords(point.peak_phase), FormatBytes(point.peak_allocated),
                         FormatBytes(point.needs)}};
  const double formula = std::max(0.0, scaling.needs.At(static_cast<double>(point.value)));
  if (has_proof && point.value >= scaling.holds_from)
    row.cells.push_back(FormatBytes(static_cast<uint64_t>(std::llround(formula))));
  return row;
}

Table PointTable(const fit::Scaling& scaling) {
  const bool has_proof = IsFormulaConfirmed(scaling);
  Table table;
  table.columns = {{"", 24},
                   {Message("peak in"), 18},
                   {Message("peak allocated"), 16, Kind::kFigure},
                   {Message("needs"), 12, Kind::kFigure}};
  if (has_proof) table.columns.push_back({Message("by the formula"), 16, Kind::kFigure});
  for (const fit::Scaling::Point& point : scaling.points)
    table.rows.push_back(PointRow(scaling, point, has_proof));
  return table;
}

// Names the values that the formula holds for; empty if it holds for all.
std::string HoldsText(const fit::Scaling& scaling) {
  const std::vector<fit::Scaling::Point>& points = scaling.points;
  if (points.front().peak_phase == points.back().peak_phase) return "";
  const bool are_two = points[points.size() - 2].peak_phase != points.back().peak_phase;
  const std::string phase = PhaseWords(points.back().peak_phase);
  if (are_two)
    return Message(
        "The peak moves to $0 at the last value. One point gives no formula, so the formula here "
        "is "
        "of the last two points. Larger values would give one.",
        phase);
  return Message("The peak moves to $0. The formula holds for $1=$2 and more.", phase,
                 Printable(scaling.name), FormatCount(scaling.holds_from));
}

// Returns a site of a need, "activation, model.layers.*", in words.
std::string SiteText(std::string_view site) {
  const size_t comma = site.find(", ");
  if (comma == std::string_view::npos) return Printable(site);
  return Message("$0, $1", RoleWords(site.substr(0, comma)), SiteWords(site.substr(comma + 2)));
}

Table GrowthTable(const std::string& title, const std::vector<fit::NamedFormula>& growths,
                  const fit::Scaling& scaling, std::string (*words)(std::string_view)) {
  Table table;
  table.title = title;
  table.columns = {{"", 44}, {Message("grows as"), 44}};
  for (const fit::NamedFormula& of : growths)
    table.rows.push_back({.cells = {words(of.name), GrowthText(of.growth, scaling)}});
  return table;
}

std::string LargestText(const fit::Answer& answer, const fit::Scaling& scaling) {
  if (answer.cards.empty()) return "";
  const std::string name = Printable(scaling.name);
  if (!scaling.largest)
    return Message("$0=$1 does not fit the card either.", name,
                   FormatCount(scaling.fails.value_or(1)));
  const std::string largest = FormatCount(*scaling.largest);
  const bool is_whole = scaling.seen.is_whole || scaling.seen.steps == 0;
  const std::string steps = FormatCount(scaling.seen.steps);
  if (!scaling.fails)
    return is_whole ? Message("$0=$1 fits the card as well. Larger values were not tried.", name,
                              largest)
                    : CountedMessage(
                          scaling.seen.steps,
                          "$0=$1 fits the card as well, in 1 step. Larger values were not tried.",
                          "$0=$1 fits the card as well, in $2 steps. Larger values were not tried.",
                          name, largest, steps);
  return JoinedSentences(
      {is_whole ? Message("The largest value that fits the card is $0=$1.", name, largest)
                : CountedMessage(scaling.seen.steps,
                                 "The largest value that fits the card in 1 step is $0=$1.",
                                 "The largest value that fits the card in $2 steps is "
                                 "$0=$1.",
                                 name, largest, steps),
       Message("$0=$1 did not fit.", name, FormatCount(*scaling.fails))});
}

}  // namespace

std::string LargestParts(const fit::CardNeed& need) {
  constexpr size_t kMost = 3;
  std::vector<fit::NeedPart> parts = need.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string text;
  for (size_t i = 0; i < std::min(kMost, parts.size()); ++i)
    text +=
        (text.empty() ? "" : ", ") + MessageOf(parts[i].name) + " " + FormatBytes(parts[i].bytes);
  return text;
}

Section ProcessSection(const fit::Answer& answer) {
  Section section{
      .id = "processes",
      .title = Message("PROCESSES"),
  };
  if (answer.job || answer.unlimited.processes.size() < 2) return section;
  Table table;
  table.columns = {{"", 24},
                   {Message("card"), 6, Kind::kFigure},
                   {Message("peak allocated"), 16, Kind::kFigure},
                   {Message("needs"), 12, Kind::kFigure}};
  for (const fit::ProcessNeed& process : answer.unlimited.processes) {
    for (const fit::CardNeed& need : process.cards) {
      table.rows.push_back({.cells = {Printable(process.name), std::to_string(need.card),
                                      FormatBytes(need.peak_allocated), FormatBytes(need.total)},
                            .below = {LargestParts(need)}});
    }
  }
  section.parts.emplace_back(std::move(table));
  return section;
}

Section ScalingSection(const fit::Answer& answer, const fit::Scaling& scaling) {
  Section section{.id = "scaling", .title = Message("GROWTH WITH $0", Printable(scaling.name))};
  section.parts.emplace_back(PointTable(scaling));
  section.parts.emplace_back(Paragraph{Message("needs = $0 (each value was run without a limit)",
                                               GrowthText(scaling.needs, scaling))});
  if (const std::string holds = HoldsText(scaling); !holds.empty())
    section.parts.emplace_back(Paragraph{holds});
  if (!scaling.roles.empty())
    section.parts.emplace_back(
        GrowthTable(Message("what grows"), scaling.roles, scaling, MessageOf));
  if (!scaling.sites.empty())
    section.parts.emplace_back(
        GrowthTable(Message("where it grows"), scaling.sites, scaling, SiteText));
  const std::string largest = LargestText(answer, scaling);
  if (!largest.empty()) section.parts.emplace_back(Paragraph{largest});
  return section;
}

Section SmallestCardSection(const fit::Answer& answer) {
  Section section{.id = "smallest", .title = Message("SMALLEST CARD")};
  if (answer.smallest.empty()) return section;
  fit::LeastSeen seen = answer.smallest.front().seen;
  for (const fit::SmallestCard& card : answer.smallest) {
    seen.is_whole = seen.is_whole && card.seen.is_whole;
    seen.steps = std::min(seen.steps, card.seen.steps);
  }
  Table table;
  table.columns = {{"", 24},
                   {SeenInText(seen, Message("fits")), 18, Kind::kFigure},
                   {Message("fails"), 12, Kind::kFigure},
                   {Message("product"), 0}};
  for (const fit::SmallestCard& card : answer.smallest) {
    const std::string product =
        card.product.empty() ? Message("none that is known")
                             : Message("$0 ($1)", card.product, FormatBytes(card.product_bytes));
    table.rows.push_back(
        {.cells = {Printable(MessageOf(card.allocator)), FormatBytes(card.completes),
                   card.fails ? FormatBytes(*card.fails) : "", product}});
  }
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(
      Note{Message("Each size and each product was run. If no size is given that fails, every "
                   "smaller one is less than the program needs.")});
  return section;
}

Section LimitsSection(const fit::Answer& answer) {
  Section section{.id = "limits", .title = Message("HOW IT IS KNOWN")};
  section.parts.emplace_back(
      Paragraph{answer.unlimited.reads.empty()
                    ? Message("All of this was seen in runs on simulated cards. Sizes and failures "
                              "are exact; kernels did not run.")
                    : Message("All of this was seen in runs on simulated cards. Kernels did not "
                              "run. Sizes and failures are exact if the program goes the same way "
                              "with real values.")});
  if (const std::string text = VirtualRanksText(answer); !text.empty())
    section.parts.emplace_back(Paragraph{text});
  for (const std::string& text : FileTexts(answer))
    if (!text.empty()) section.parts.emplace_back(Paragraph{text});
  return section;
}

}  // namespace memtrace::report
