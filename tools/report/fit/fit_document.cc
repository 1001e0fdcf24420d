// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/fit_document.h"

#include <algorithm>
#include <utility>

#include "tools/report/printable.h"
#include "tools/report/quantity.h"
#include "tools/report/verdict_text.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::CardNeed;
using fit::FailedLine;
using fit::Outcome;
using fit::TriedRemedy;

std::string StepsText(const Outcome& outcome) {
  uint64_t steps = 0;
  bool is_settled = true;
  for (const fit::ProcessNeed& process : outcome.processes) {
    steps = std::max(steps, process.steps);
    is_settled = is_settled && process.end == fit::TrialEnd::kSettled;
  }
  const std::string made = FormatCounted(steps, "step");
  return is_settled ? "its peak settled within " + made : "seen in " + made;
}

std::string FailedText(const FailedLine& failed) {
  return Printable(failed.line) + ", " + DescribePosition(failed.at) + ": " +
         FormatBytes(failed.bytes) + " asked, short by " + FormatBytes(failed.short_by) +
         (failed.is_fragmentation ? "; free memory lies in pieces" : "");
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

Section VerdictOf(const Answer& answer) {
  const Fullest card = FullestOf(answer);
  const std::string needs = "It needs " + FormatBytes(card.need) + " of card " +
                            std::to_string(card.card) + "'s " + FormatBytes(card.has) + " (" +
                            StepsText(answer.unlimited) + ").";
  Section section{.id = "verdict"};
  if (answer.fits()) {
    section.parts = {Paragraph{"FITS. " + needs + " It completed on the card."}};
    return section;
  }
  section.parts = {Paragraph{"DOES NOT FIT. " + needs}};
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
    beyond += ", " + FormatBytes(need.fragmentation) + " of it cached and in holes";
  const auto card = static_cast<size_t>(need.card);
  if (card < answer.card_bytes.size())
    beyond += "; the card has " + FormatBytes(answer.card_bytes[card]);
  section.parts.emplace_back(Note{beyond});
  return section;
}

uint64_t MostReserved(const Outcome& outcome) {
  uint64_t most = 0;
  for (const CardNeed& need : fit::Joined(outcome.processes))
    most = std::max(most, need.peak_reserved);
  return most;
}

TableRow RowOf(size_t number, const TriedRemedy& remedy) {
  std::string outcome = "fits";
  std::string reserved = FormatBytes(MostReserved(remedy.outcome));
  if (!remedy.outcome.completed) {
    outcome = remedy.outcome.Failed() ? "does not" : "the program fails";
    reserved = "";
  }
  TableRow row{.cells = {std::to_string(number) + " " + NameOf(remedy), outcome, reserved}};
  for (const fit::Candidate& change : remedy.changes)
    row.below.push_back(Printable(change.change) + "; costs: " + change.cost);
  if (const auto failed = remedy.outcome.Failed()) row.below.push_back(FailedText(*failed));
  return row;
}

Section RemedySection(const Answer& answer) {
  Section section{.id = "remedies", .title = "TRIED", .subtitle = "each by a run on the card"};
  Table table;
  table.columns = {{"", 44}, {"", 18}, {"reserved", 12, TableColumn::Kind::kFigure}};
  std::string nothing;
  size_t combinations = 0;  // that do not fit either
  for (const TriedRemedy& remedy : answer.remedies) {
    if (remedy.changes.size() > 1 && !remedy.outcome.completed) {
      ++combinations;
    } else if (remedy.had_effect) {
      table.rows.push_back(RowOf(table.rows.size() + 1, remedy));
    } else {
      nothing += (nothing.empty() ? "" : ", ") + NameOf(remedy);
    }
  }
  if (combinations > 0) table.rest = FormatCounted(combinations, "combination") + " did not fit";
  if (table.rows.empty()) return section;
  section.parts.emplace_back(std::move(table));
  if (!nothing.empty()) section.parts.emplace_back(Note{"nothing to change for: " + nothing});
  return section;
}

Section RecommendedSection(const Answer& answer) {
  Section section{.id = "recommended", .title = "RECOMMENDED"};
  if (answer.fits() || answer.remedies.empty()) return section;
  if (!answer.recommended) {
    section.parts = {
        Paragraph{"none of these makes it fit; a smaller batch or sequence, LoRA, or a "
                  "second card would have to"}};
    return section;
  }
  const TriedRemedy& remedy = answer.remedies[*answer.recommended];
  section.parts = {Paragraph{NameOf(remedy) + ": the smallest change that completed on the card"}};
  return section;
}

Section UnknownSection(const Answer& answer) {
  Section section{.id = "unknown", .title = "VALUES THAT WERE NOT KNOWN"};
  for (const analysis::HostRead& read : answer.unlimited.reads) {
    section.parts.emplace_back(
        Paragraph{Printable(read.place) + " read " + FormatCounted(read.count, "value") + " (" +
                  Printable(read.operation) + ")" +
                  (read.answer.empty() ? "" : ", answered " + Printable(read.answer))});
  }
  return section;
}

}  // namespace

std::string NameOf(const TriedRemedy& remedy) {
  std::string name;
  for (const fit::Candidate& change : remedy.changes)
    name += (name.empty() ? "" : " + ") + Printable(change.name);
  return name;
}

Document FitDocument(const Answer& answer) {
  Document document = {VerdictOf(answer)};
  for (const CardNeed& need : fit::Joined(answer.unlimited.processes))
    document.push_back(NeedSection(answer, need));
  document.push_back(RemedySection(answer));
  document.push_back(RecommendedSection(answer));
  document.push_back(UnknownSection(answer));
  return document;
}

}  // namespace memtrace::report
