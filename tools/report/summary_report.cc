// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/summary_report.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/report/sections/ledger_table.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardSummary;
using analysis::RunSummary;
using analysis::SummaryRow;

std::string SignedBytes(int64_t bytes) {
  return bytes < 0 ? "-" + FormatBytes(static_cast<uint64_t>(-bytes))
                   : FormatBytes(static_cast<uint64_t>(bytes));
}

std::string LedgerRows(const analysis::Ledger& ledger) {
  std::string text;
  for (const analysis::LedgerEntry& entry : ledger.entries) {
    if (entry.bytes == 0) continue;
    text += "  " + LeftAligned(EntryLabel(ledger, entry), 24) +
            RightAligned(SignedBytes(entry.bytes), 16) + "\n";
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
    text += "  " + LeftAligned(Shortened(Printable(row.role), 17), 18) +
            LeftAligned(Shortened(Printable(row.owner), 33), 34) +
            RightAligned(FormatBytes(row.bytes), 14) + RightAligned(Percent(row.bytes, whole), 8) +
            "\n";
  }
  if (rows.size() > most) text += "  and " + FormatCount(rows.size() - most) + " more\n";
  return text;
}

std::string CardText(const CardSummary& card, size_t most) {
  const std::string size =
      card.ledger.total_known ? " of " + FormatBytes(card.ledger.total) : ", its size not known";
  std::string text = "\nCARD " + std::to_string(card.index) + size + "\n" + LedgerRows(card.ledger);
  text += "\n  HOLDS NOW, requested " + FormatBytes(card.live_requested) + "\n" +
          HolderRows(card.now, card.live_requested, most);
  text += "  AT THE PEAK, requested " + FormatBytes(card.peak) + " at " + Printable(card.peak_at) +
          "\n" + HolderRows(card.held, card.peak, most);
  if (card.growth_per_step > 0) {
    text += "  grows by " + FormatBytes(static_cast<uint64_t>(card.growth_per_step)) +
            " a step over the latest steps\n";
  }
  return text;
}

std::string Age(const RunSummary& summary, uint64_t now_unix_ns) {
  if (now_unix_ns <= summary.unix_ns) return "";
  const uint64_t seconds = (now_unix_ns - summary.unix_ns) / 1'000'000'000;
  return "as of " + FormatCount(seconds) + " s ago";
}

}  // namespace

std::string TextSummary(const RunSummary& summary, const std::string& title, uint64_t now_unix_ns,
                        size_t most_rows) {
  const std::string failures = summary.out_of_memory == 0
                                   ? ""
                                   : "ran out of memory " + FormatCount(summary.out_of_memory) +
                                         (summary.out_of_memory == 1 ? " time" : " times");
  const std::string lost =
      summary.lost_events == 0 ? "" : FormatCount(summary.lost_events) + " events LOST";
  std::string text = JoinedByDots({Printable(title), Printable(summary.at),
                                   FormatCount(summary.events) + " events", failures, lost,
                                   summary.is_last ? "ended" : Age(summary, now_unix_ns)});
  for (const CardSummary& card : summary.cards) text += CardText(card, most_rows);
  if (summary.cards.empty()) text += "\nnothing was allocated on a card\n";
  if (summary.cards.size() < summary.cards_in_all) {
    text += "\nand " + FormatCount(summary.cards_in_all - summary.cards.size()) + " more cards\n";
  }
  return text;
}

}  // namespace memtrace::report
