// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/fit_document.h"

#include <algorithm>
#include <utility>

#include "tools/report/fit/further_sections.h"
#include "tools/report/fit/remedy_sections.h"
#include "tools/report/fit/verdict_sentences.h"
#include "tools/report/sections/verdict_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::CardNeed;
using fit::Outcome;

// The card with the largest need; `has` is 0 for a card that the program needs but does not get.
struct Fullest {
  uint64_t need = 0;
  uint64_t has = 0;
  int32_t card = 0;
};
Fullest FullestOf(const Answer& answer, const Outcome& outcome) {
  Fullest fullest;
  for (const CardNeed& need : fit::Joined(outcome.processes)) {
    const auto card = static_cast<size_t>(need.card);
    const uint64_t has = card < answer.card_bytes.size() ? answer.card_bytes[card] : 0;
    if (need.total >= fullest.need) fullest = {need.total, has, need.card};
  }
  return fullest;
}

// Says that the answer depends on values that were not known; "" if it does not.
std::string UnknownValuesText(const Answer& answer) {
  const std::vector<analysis::HostRead>& reads = answer.unlimited.reads;
  if (reads.empty()) return "";
  return " This holds if the program goes the same way with the real values that it read at " +
         Printable(reads.front().place) + (reads.size() > 1 ? " and elsewhere" : "") + " (below).";
}

// Returns "It needs 42.30 GiB of card 0's 40.00 GiB (seen in 2 steps)."
std::string NeedsText(const Fullest& card, const std::string& seen = "") {
  return "It needs " + FormatBytes(card.need) + " of card " + std::to_string(card.card) + "'s " +
         FormatBytes(card.has) + (seen.empty() ? "" : " (" + seen + ")") + ".";
}

// Processes may reach their peaks at different times, so the sum may be more than the card.
std::string FitNeedsText(const Fullest& card) {
  if (card.need <= card.has) return NeedsText(card);
  return "The peaks of its processes add up to " + FormatBytes(card.need) + " of card " +
         std::to_string(card.card) + "'s " + FormatBytes(card.has) +
         ", but were not reached at the same time.";
}

std::string FitsText(const Answer& answer) {
  const Outcome& seen = answer.within;
  const std::string needs = FitNeedsText(FullestOf(answer, answer.told()));
  const std::string rest = MarginText(answer) + UnknownValuesText(answer);
  if (seen.outlook.is_whole)
    return "FITS. " + needs + " The program ran to its end on the card (" + SeenText(seen.outlook) +
           ")." + rest;
  return "FITS IN THE " + FormatCount(seen.outlook.steps) +
         (seen.outlook.steps == 1 ? " STEP SEEN. " : " STEPS SEEN. ") + needs + " " +
         SettledText(seen.outlook) + rest + " " + UnseenText(seen.outlook);
}

std::string DoesNotFitText(const Answer& answer) {
  const Fullest card = FullestOf(answer, answer.unlimited);
  std::string text = "DOES NOT FIT. " + NeedsText(card, SeenText(answer.unlimited.outlook));
  if (card.need > card.has)
    return text + " That is " + FormatBytes(card.need - card.has) + " more than there is.";
  const auto failed = answer.within.Failed();
  if (failed && failed->is_fragmentation)
    return text + " So much would fit in one piece, but free memory lay in pieces.";
  return text + " So much would fit; on the card a request failed all the same.";
}

std::string NeedOnlyText(const Answer& answer) {
  const Fullest card = FullestOf(answer, answer.unlimited);
  return "NEEDS " + FormatBytes(card.need) + " of card " + std::to_string(card.card) + " (" +
         SeenText(answer.unlimited.outlook) + "). " + UnseenText(answer.unlimited.outlook);
}

// Requires the run on the card.
std::string VerdictText(const Answer& answer) {
  const std::string needs =
      NeedsText(FullestOf(answer, answer.unlimited), SeenText(answer.within.outlook));
  switch (answer.verdict()) {
    case fit::FitVerdict::kFits:
      return FitsText(answer);
    case fit::FitVerdict::kWillNotFit:
      return WillNotFitText(answer.within.outlook) + " " + needs;
    case fit::FitVerdict::kNotKnown:
      return NotKnownText(answer.within) + " " + needs;
    case fit::FitVerdict::kDoesNotFit:
      break;
  }
  return DoesNotFitText(answer);
}

Section VerdictOf(const Answer& answer) {
  Section section{.id = "verdict"};
  const bool is_told = answer.cards.empty() ? answer.has_need() : answer.has_within;
  if (!is_told) {
    section.parts = {Paragraph{KnownSoFarText(answer)}};
    return section;
  }
  section.parts = {Paragraph{answer.cards.empty() ? NeedOnlyText(answer) : VerdictText(answer)}};
  for (std::string& more : FurtherSentences(answer))
    section.parts.emplace_back(Paragraph{std::move(more)});
  if (answer.stopped) section.parts.emplace_back(Paragraph{StoppedText(*answer.stopped)});
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
  const bool is_unlimited = &answer.told() == &answer.unlimited;
  std::string beyond = "peak allocated " + FormatBytes(need.peak_allocated) + ", " +
                       DescribePosition(need.peak_at) + "; seen in " +
                       (is_unlimited ? "a run without a limit" : "the run on the card") +
                       ", where torch reserved " + FormatBytes(need.peak_reserved);
  if (need.fragmentation > 0)
    beyond += ", " + FormatBytes(need.fragmentation) + " of it fragmentation: cached and in holes";
  const auto card = static_cast<size_t>(need.card);
  if (card < answer.card_bytes.size())
    beyond += "; the card has " + FormatBytes(answer.card_bytes[card]);
  section.parts.emplace_back(Note{beyond});
  return section;
}

// Lists the values that were not known. Those that followed from a made-up answer are called
// assumed.
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
  for (const CardNeed& need : fit::Joined(answer.told().processes))
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
