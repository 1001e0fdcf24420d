// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/summary_report.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "messages/message.h"
#include "tools/report/sections/ledger_table.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::CardSummary;
using analysis::RunSummary;
using analysis::SummaryRow;

std::string SignedBytes(int64_t bytes) {
  return bytes < 0 ? "-" + FormatBytes(static_cast<uint64_t>(-bytes))
                   : FormatBytes(static_cast<uint64_t>(bytes));
}

std::string PositionText(const analysis::SummaryPosition& at) {
  return Message("step $0, $1", at.step, Printable(at.phase));
}

std::string LedgerRows(const analysis::Ledger& ledger) {
  std::string text;
  for (const analysis::LedgerEntry& entry : ledger.entries) {
    if (entry.bytes == 0) continue;
    text += "  " + LeftAligned(EntryLabel(ledger, entry), 28) +
            RightAligned(SignedBytes(entry.bytes), 16) + "\n";
  }
  if (!ledger.off_card.empty()) text += "  " + Message("beside the card:") + "\n";
  for (const analysis::OffCardEntry& entry : ledger.off_card) {
    text += "    " + LeftAligned(OffCardWords(entry.part), 28) +
            RightAligned(FormatBytes(entry.bytes), 14) + "\n";
  }
  return text;
}

// Rounds to the nearest percent; less than half a percent is "< 1 %".
std::string Percent(uint64_t part, uint64_t whole) {
  if (whole == 0 || part == 0) return "0 %";
  const long percent = std::lround(100 * static_cast<double>(part) / static_cast<double>(whole));
  return percent == 0 ? "< 1 %" : std::to_string(percent) + " %";
}

std::string HolderRows(const std::vector<SummaryRow>& rows, uint64_t whole, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(rows.size(), most); ++i) {
    const SummaryRow& row = rows[i];
    text += "  " + LeftAligned(Shortened(RoleWords(row.role), 17), 18) +
            LeftAligned(Shortened(SiteWords(row.owner), 33), 34) +
            RightAligned(FormatBytes(row.bytes), 14) + RightAligned(Percent(row.bytes, whole), 8) +
            "\n";
  }
  if (rows.size() > most)
    text += "  " + Message("and $0 more", FormatCount(rows.size() - most)) + "\n";
  return text;
}

std::string CardText(const CardSummary& card, size_t most) {
  const std::string title =
      card.ledger.total_known ? Message("CARD $0 of $1", card.index, FormatBytes(card.ledger.total))
                              : Message("CARD $0, its size is not known", card.index);
  std::string text = "\n" + title + "\n" + LedgerRows(card.ledger);
  text += "\n  " + Message("IN USE NOW: $0 requested", FormatBytes(card.live_requested)) + "\n" +
          HolderRows(card.now, card.live_requested, most);
  text += "  " +
          Message("AT THE PEAK ($0): $1 requested", PositionText(card.peak_at),
                  FormatBytes(card.peak)) +
          "\n" + HolderRows(card.held, card.peak, most);
  if (card.growth_per_step > 0) {
    text += "  " +
            Message("Memory in use grew by $0 per step over the latest steps.",
                    FormatBytes(static_cast<uint64_t>(card.growth_per_step))) +
            "\n";
  }
  return text;
}

std::string FailuresText(uint64_t failures) {
  if (failures == 0) return "";
  return CountedMessage(failures, "ran out of memory once", "ran out of memory $0 times",
                        FormatCount(failures));
}

std::string LostText(uint64_t lost) {
  if (lost == 0) return "";
  return CountedMessage(lost, "1 event LOST", "$0 events LOST", FormatCount(lost));
}

std::string Age(const RunSummary& summary, uint64_t now_unix_ns) {
  if (now_unix_ns <= summary.unix_ns) return "";
  const uint64_t seconds = (now_unix_ns - summary.unix_ns) / 1'000'000'000;
  return Message("as of $0 s ago", FormatCount(seconds));
}

// A summary is written with an event, so that of a program that soon became idle may be the first.
std::string WithoutCardsText(const RunSummary& summary) {
  if (summary.is_last) return Message("Nothing was allocated on a card.");
  return Message(
      "No memory of a card is in this summary. Allocations of the last second before the program "
      "became idle may be missing; memtrace report has them.");
}

}  // namespace

std::string TextSummary(const RunSummary& summary, const std::string& title, uint64_t now_unix_ns,
                        size_t most_rows) {
  std::string text = JoinedByDots(
      {Printable(title), PositionText(summary.at),
       CountedMessage(summary.events, "1 event", "$0 events", FormatCount(summary.events)),
       FailuresText(summary.out_of_memory), LostText(summary.lost_events),
       summary.is_last ? Message("ended") : Age(summary, now_unix_ns)});
  for (const CardSummary& card : summary.cards) text += CardText(card, most_rows);
  if (summary.cards.empty()) text += "\n" + WithoutCardsText(summary) + "\n";
  if (summary.cards.size() < summary.cards_in_all) {
    const uint64_t more = summary.cards_in_all - summary.cards.size();
    text += "\n" + CountedMessage(more, "and 1 more card", "and $0 more cards", FormatCount(more)) +
            "\n";
  }
  return text;
}

}  // namespace memtrace::report
