// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/fit_document.h"

#include <algorithm>
#include <utility>

#include "tools/report/fit/further_sections.h"
#include "tools/report/fit/remedy_sections.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"
#include "tools/report/verdict_text.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::CardNeed;
using fit::Outcome;

std::string StepsText(const Outcome& outcome) {
  uint64_t steps = 0;
  bool is_settled = true;
  for (const fit::ProcessNeed& process : outcome.processes) {
    steps = std::max(steps, process.steps);
    is_settled = is_settled && process.end == fit::TrialEnd::kSettled;
  }
  if (steps == 0) return "seen in the whole program";
  const std::string made = FormatCounted(steps, "step");
  return is_settled ? "its peak settled within " + made : "seen in " + made;
}

// The card that is fullest beside what it has; those that a program needs may be more than it gets.
struct Fullest {
  uint64_t need = 0;
  uint64_t has = 0;
  int32_t card = 0;
};
Fullest FullestOf(const Answer& answer) {
  Fullest fullest;
  for (const CardNeed& need : fit::Joined(answer.unlimited.processes)) {
    const auto card = static_cast<size_t>(need.card);
    const uint64_t has = card < answer.card_bytes.size() ? answer.card_bytes[card] : 0;
    if (need.total >= fullest.need) fullest = {need.total, has, need.card};
  }
  return fullest;
}

// Of an answer that holds only if the program goes the same way with real values.
std::string SteeredText(const Answer& answer) {
  const std::vector<analysis::HostRead>& reads = answer.unlimited.reads;
  if (reads.empty()) return "";
  return " This holds if the program goes the same way with the real values that it read at " +
         Printable(reads.front().place) + (reads.size() > 1 ? " and elsewhere" : "") + " (below).";
}

Section VerdictOf(const Answer& answer) {
  const Fullest card = FullestOf(answer);
  const std::string needs = "It needs " + FormatBytes(card.need) + " of card " +
                            std::to_string(card.card) + "'s " + FormatBytes(card.has) + " (" +
                            StepsText(answer.unlimited) + ").";
  Section section{.id = "verdict"};
  if (answer.cards.empty()) {
    section.parts = {Paragraph{"NEEDS " + FormatBytes(card.need) + " of card " +
                               std::to_string(card.card) + " (" + StepsText(answer.unlimited) +
                               ")."}};
    return section;
  }
  if (answer.fits()) {
    section.parts = {Paragraph{"FITS. " + needs + " It completed on the card" + MarginText(answer) +
                               "." + SteeredText(answer)}};
    return section;
  }
  std::string verdict = "DOES NOT FIT. " + needs;
  if (card.need > card.has)
    verdict += " That is " + FormatBytes(card.need - card.has) + " more than there are.";
  section.parts = {Paragraph{std::move(verdict)}};
  if (const auto failed = answer.within.Failed())
    section.parts.emplace_back(
        Paragraph{"First to fail on the card: " + FailedText(*failed) + "."});
  return section;
}

Section NeedSection(const Answer& answer, const CardNeed& need) {
  Section section{.id = "need", .title = "CARD " + std::to_string(need.card)};
  const TableUnit unit = UnitFor(need.total);
  Table table;
  table.columns = {{"", 24}, {std::string(unit.name), 9, TableColumn::Kind::kFigure}};
  std::vector<int64_t> bytes;
  bytes.reserve(need.parts.size());
  for (const fit::NeedPart& part : need.parts) bytes.push_back(static_cast<int64_t>(part.bytes));
  const std::vector<int64_t> figures =
      AdditiveHundredths(bytes, Hundredths(static_cast<int64_t>(need.total), unit), unit);
  for (size_t i = 0; i < need.parts.size(); ++i) {
    TableRow row{.cells = {need.parts[i].name, FormatHundredths(figures[i])}};
    if (need.total > 0)
      row.share = static_cast<double>(need.parts[i].bytes) / static_cast<double>(need.total);
    table.rows.push_back(std::move(row));
  }
  table.total = {"needs", FormatFigure(need.total, unit)};
  section.parts.emplace_back(std::move(table));
  std::string beyond = "peak allocated " + FormatBytes(need.peak_allocated) + ", " +
                       DescribePosition(need.peak_at) + "; seen in a run without a limit, where " +
                       "torch reserved " + FormatBytes(need.peak_reserved);
  if (need.fragmentation > 0)
    beyond += ", " + FormatBytes(need.fragmentation) + " of it fragmentation: cached and in holes";
  const auto card = static_cast<size_t>(need.card);
  if (card < answer.card_bytes.size())
    beyond += "; the card has " + FormatBytes(answer.card_bytes[card]);
  section.parts.emplace_back(Note{beyond});
  return section;
}

// Those of what followed from an answer that was made up are called assumed.
Section UnknownSection(const Answer& answer) {
  Section section{.id = "unknown", .title = "VALUES THAT WERE NOT KNOWN"};
  for (const analysis::HostRead& read : answer.unlimited.reads) {
    section.parts.emplace_back(
        Paragraph{Printable(read.place) + " read " + FormatCounted(read.count, "value") + " (" +
                  Printable(read.operation) + ")" + (read.assumed ? ", assumed" : "") +
                  (read.answer.empty() ? "" : ", answered " + Printable(read.answer))});
  }
  if (section.parts.empty()) return section;
  section.parts.emplace_back(
      Note{"nothing is computed on a simulated card; if the program decides by these what it "
           "allocates, it may need something else: --stub can put true values in their place"});
  return section;
}

}  // namespace

Document FitDocument(const Answer& answer) {
  Document document = {VerdictOf(answer)};
  for (const CardNeed& need : fit::Joined(answer.unlimited.processes))
    document.push_back(NeedSection(answer, need));
  document.push_back(ProcessSection(answer));
  document.push_back(RemedySection(answer));
  document.push_back(RecommendedSection(answer));
  for (const fit::Scaling& scaling : answer.scalings)
    document.push_back(ScalingSection(answer, scaling));
  document.push_back(SmallestCardSection(answer));
  document.push_back(UnknownSection(answer));
  document.push_back(LimitsSection(answer));
  return document;
}

}  // namespace memtrace::report
