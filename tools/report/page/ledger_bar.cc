// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/ledger_bar.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "tools/report/page/html_document.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::Explanation;

// The size of the drawing in units; the width is the whole card. A hundredth of a unit still shows.
constexpr double kWidth = 1000;
constexpr double kHeight = 34;

struct Piece {
  std::string name;
  uint64_t bytes = 0;
  bool is_role = false;  // a part of live
};

// Returns the pieces in the order of the ledger, without empty ones.
std::vector<Piece> PiecesOf(const CardExplanation& card, const analysis::Breakdown* held) {
  std::vector<Piece> pieces;
  for (const analysis::LedgerEntry& entry : card.ledger.entries) {
    uint64_t left = card.ledger.positive(entry.part);
    if (entry.part == analysis::LedgerPart::kLive && held != nullptr) {
      for (const analysis::Share& share : held->by_role) {
        const uint64_t bytes = std::min(share.bytes, left);
        left -= bytes;
        if (bytes > 0) pieces.push_back({share.name, bytes, true});
      }
    }
    if (left > 0) pieces.push_back({std::string(entry.name()), left, false});
  }
  return pieces;
}

std::string Number(double value) { return FormatHundredths(std::lround(value * 100)); }

std::string TitleOf(const Piece& piece, uint64_t total) {
  const double percent = 100 * static_cast<double>(piece.bytes) / static_cast<double>(total);
  return (piece.is_role ? "live, " : "") + piece.name + ": " + FormatBytes(piece.bytes) + ", " +
         FormatCount(piece.bytes) + " bytes, " + Number(percent) + " %";
}

std::string Drawing(const std::vector<Piece>& pieces, uint64_t total, uint64_t scale) {
  std::string svg;
  double at = 0;
  for (const Piece& piece : pieces) {
    const double width = kWidth * static_cast<double>(piece.bytes) / static_cast<double>(scale);
    svg += "<rect class=\"k-" + HtmlEscaped(piece.name) + "\" x=\"" + Number(at) + "\" width=\"" +
           Number(width) + "\" height=\"" + Number(kHeight) + "\"><title>" +
           HtmlEscaped(TitleOf(piece, total)) + "</title></rect>";
    at += width;
  }
  return svg;
}

// Lists only pieces that are wide enough to see.
std::string Legend(const std::vector<Piece>& pieces, uint64_t total) {
  std::vector<LegendEntry> entries;
  for (const Piece& piece : pieces) {
    if (piece.bytes >= total / 200)
      entries.push_back({piece.name, piece.name + " " + FormatBytes(piece.bytes)});
  }
  return LegendOf(entries);
}

struct LedgerBar {
  std::string name;
  std::vector<Piece> pieces;
  uint64_t total = 0;  // at least the sum of its pieces: a ledger may not add up
};

// `side` is " before" or " after" if there are two bars.
LedgerBar BarOf(const CardExplanation& card, const analysis::Breakdown* held,
                std::string_view side = "") {
  LedgerBar bar{.name = "card " + std::to_string(card.index) + std::string(side) + ", " +
                        FormatBytes(card.ledger.total),
                .pieces = PiecesOf(card, held)};
  for (const Piece& piece : bar.pieces) bar.total += piece.bytes;
  bar.total = std::max(bar.total, card.ledger.total);
  return bar;
}

LedgerBar BarOfExplainedCard(const Explanation& explanation, std::string_view side) {
  return BarOf(explanation.card_of_verdict(), &explanation.holders.held, side);
}

// `scale` is the bytes of the whole width.
std::string FigureOf(const LedgerBar& bar, uint64_t scale) {
  if (bar.total == 0) return "";
  return "<figure class=\"ledger\"><figcaption>" + bar.name +
         "</figcaption><svg role=\"img\" aria-label=\"The ledger of " + bar.name +
         ", as in the table\" viewBox=\"0 0 1000 34\" preserveAspectRatio=\"none\">" +
         Drawing(bar.pieces, bar.total, scale) + "</svg>" + Legend(bar.pieces, bar.total) +
         "</figure>\n";
}

std::string SectionOf(const std::string& figures) {
  return figures.empty()
             ? ""
             : "<section id=\"ledgers\" aria-label=\"The cards\">\n" + figures + "</section>\n";
}

}  // namespace

std::string LedgerBars(const Explanation& explanation) {
  std::string figures;
  for (size_t i = 0; i < explanation.cards.size(); ++i) {
    const LedgerBar bar =
        BarOf(explanation.cards[i], i == explanation.card ? &explanation.holders.held : nullptr);
    figures += FigureOf(bar, bar.total);
  }
  return SectionOf(figures);
}

std::string LedgerBarsOfTwo(const Explanation& before, const Explanation& after) {
  const LedgerBar first = BarOfExplainedCard(before, " before");
  const LedgerBar second = BarOfExplainedCard(after, " after");
  const uint64_t scale = std::max(first.total, second.total);
  return SectionOf(FigureOf(first, scale) + FigureOf(second, scale));
}

}  // namespace memtrace::report
