// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/ledger_bar.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/report/page/html_document.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::Explanation;

// Units of the drawing: the whole card. Hundredths of one still have a width.
constexpr double kWidth = 1000;
constexpr double kHeight = 34;

struct Piece {
  std::string name;
  uint64_t bytes = 0;
  bool is_role = false;  // of live
};

// In the order of the ledger; what is nothing is left out.
std::vector<Piece> PiecesOf(const CardExplanation& card, const analysis::Breakdown* held) {
  std::vector<Piece> pieces;
  for (const analysis::LedgerEntry& entry : card.ledger.entries) {
    uint64_t left = card.ledger.positive(entry.name);
    if (entry.name == "live" && held != nullptr) {
      for (const analysis::Share& share : held->by_role) {
        const uint64_t bytes = std::min(share.bytes, left);
        left -= bytes;
        if (bytes > 0) pieces.push_back({share.name, bytes, true});
      }
    }
    if (left > 0) pieces.push_back({std::string(entry.name), left, false});
  }
  return pieces;
}

std::string Number(double value) { return FormatHundredths(std::lround(value * 100)); }

std::string TitleOf(const Piece& piece, uint64_t total) {
  const double percent = 100 * static_cast<double>(piece.bytes) / static_cast<double>(total);
  return (piece.is_role ? "live, " : "") + piece.name + ": " + FormatBytes(piece.bytes) + ", " +
         FormatCount(piece.bytes) + " bytes, " + Number(percent) + " %";
}

std::string Drawing(const std::vector<Piece>& pieces, uint64_t total) {
  std::string svg;
  double at = 0;
  for (const Piece& piece : pieces) {
    const double width = kWidth * static_cast<double>(piece.bytes) / static_cast<double>(total);
    svg += "<rect class=\"k-" + HtmlEscaped(piece.name) + "\" x=\"" + Number(at) + "\" width=\"" +
           Number(width) + "\" height=\"" + Number(kHeight) + "\"><title>" +
           HtmlEscaped(TitleOf(piece, total)) + "</title></rect>";
    at += width;
  }
  return svg;
}

// Only what has a width that can be seen.
std::string Legend(const std::vector<Piece>& pieces, uint64_t total) {
  std::vector<LegendEntry> entries;
  for (const Piece& piece : pieces) {
    if (piece.bytes >= total / 200)
      entries.push_back({piece.name, piece.name + " " + FormatBytes(piece.bytes)});
  }
  return LegendOf(entries);
}

std::string BarOf(const CardExplanation& card, const analysis::Breakdown* held) {
  uint64_t total = card.ledger.total;
  const std::vector<Piece> pieces = PiecesOf(card, held);
  uint64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.bytes;
  total = std::max(total, sum);  // of a ledger that does not add up
  if (total == 0) return "";
  const std::string name =
      "card " + std::to_string(card.index) + ", " + FormatBytes(card.ledger.total);
  return "<figure class=\"ledger\"><figcaption>" + name +
         "</figcaption><svg role=\"img\" aria-label=\"The ledger of " + name +
         ", as in the table\" viewBox=\"0 0 1000 34\" preserveAspectRatio=\"none\">" +
         Drawing(pieces, total) + "</svg>" + Legend(pieces, total) + "</figure>\n";
}

}  // namespace

std::string LedgerBars(const Explanation& explanation) {
  std::string html;
  for (size_t i = 0; i < explanation.cards.size(); ++i)
    html += BarOf(explanation.cards[i], i == explanation.card ? &explanation.held : nullptr);
  return html.empty()
             ? ""
             : "<section id=\"ledgers\" aria-label=\"The cards\">\n" + html + "</section>\n";
}

}  // namespace memtrace::report
