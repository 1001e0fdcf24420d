// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/ledger_bar.h"

#include <algorithm>
#include <cmath>

#include "messages/message.h"
#include "tools/report/page/card_name.h"
#include "tools/report/page/html_document.h"
#include "tools/report/page/svg_number.h"
#include "tools/report/sections/holder_groups.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;

// The size of the drawing in units; the width is the whole card. A hundredth of a unit still shows.
constexpr double kWidth = 1000;
constexpr double kHeight = 34;

struct Piece {
  std::string name;  // of the class
  std::string text;
  uint64_t bytes = 0;
  bool is_role = false;  // a part of live
  size_t model = 0;      // of HolderGroup: each has a shade of its own
};

// Returns the classes of a piece or of its patch in the legend.
std::string ClassOf(const Piece& piece) {
  constexpr size_t kShades = 2;  // of page.css
  if (piece.model == 0) return piece.name;
  return piece.name + " shade-" + std::to_string(std::min(piece.model, kShades));
}

// Returns the pieces in the order of the ledger, without empty ones.
std::vector<Piece> PiecesOf(const CardExplanation& card,
                            const analysis::ExplainedHolders* holders) {
  std::vector<Piece> pieces;
  for (const analysis::LedgerEntry& entry : card.ledger.entries) {
    uint64_t left = card.ledger.positive(entry.part);
    if (entry.part == analysis::LedgerPart::kLive && holders != nullptr) {
      for (const HolderGroup& group : HolderGroups(*holders)) {
        const uint64_t bytes = std::min(group.bytes, left);
        left -= bytes;
        if (bytes > 0)
          pieces.push_back(
              {std::string(RoleName(group.role)), group.name, bytes, true, group.model});
      }
    }
    if (left > 0)
      pieces.push_back({std::string(entry.name()), LedgerWords(entry.part), left, false});
  }
  return pieces;
}

std::string TitleOf(const Piece& piece, uint64_t total) {
  const double percent = 100 * static_cast<double>(piece.bytes) / static_cast<double>(total);
  const std::string in_use = LedgerWords(analysis::LedgerPart::kLive);
  const std::string name = piece.is_role ? Message("$0, $1", in_use, piece.text) : piece.text;
  return CountedMessage(piece.bytes, "$0: $1, 1 byte, $3 %", "$0: $1, $2 bytes, $3 %", name,
                        FormatBytes(piece.bytes), FormatCount(piece.bytes), SvgNumber(percent));
}

std::string BarDrawing(const std::vector<Piece>& pieces, uint64_t total, uint64_t scale) {
  std::string svg;
  double at = 0;
  for (const Piece& piece : pieces) {
    const double width = kWidth * static_cast<double>(piece.bytes) / static_cast<double>(scale);
    svg += "<rect class=\"k-" + HtmlEscaped(ClassOf(piece)) + "\" x=\"" + SvgNumber(at) +
           "\" width=\"" + SvgNumber(width) + "\" height=\"" + SvgNumber(kHeight) + "\"><title>" +
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
      entries.push_back({ClassOf(piece), piece.text + " " + FormatBytes(piece.bytes)});
  }
  return LegendOf(entries);
}

struct LedgerBar {
  std::string name;
  std::vector<Piece> pieces;
  uint64_t total = 0;  // at least the sum of its pieces: a ledger may not add up
};

LedgerBar BarOf(const CardExplanation& card, const analysis::ExplainedHolders* holders, Side side) {
  LedgerBar bar{
      .name = Message("$0, $1", CardName(card.index, side), FormatBytes(card.ledger.total)),
      .pieces = PiecesOf(card, holders)};
  for (const Piece& piece : bar.pieces) bar.total += piece.bytes;
  bar.total = std::max(bar.total, card.ledger.total);
  return bar;
}

// `scale` is the bytes of the whole width.
std::string FigureOf(const LedgerBar& bar, uint64_t scale) {
  if (bar.total == 0) return "";
  return "<figure class=\"ledger\"><figcaption>" + HtmlEscaped(bar.name) +
         "</figcaption><svg role=\"img\" aria-label=\"" +
         HtmlEscaped(Message("The memory of $0, as in the table", bar.name)) +
         "\" viewBox=\"0 0 1000 34\" preserveAspectRatio=\"none\">" +
         BarDrawing(bar.pieces, bar.total, scale) + "</svg>" + Legend(bar.pieces, bar.total) +
         "</figure>\n";
}

std::string SectionOf(const std::string& figures) {
  return figures.empty()
             ? ""
             : "<section id=\"ledgers\" aria-label=\"" + HtmlEscaped(Message("The cards")) +
                   "\">\n" + figures + "</section>\n";
}

}  // namespace

std::string LedgerBars(const std::vector<CardExplanation>& cards, const HeldCard& of_verdict) {
  std::string figures;
  for (const CardExplanation& card : cards) {
    const bool is_of_verdict = &card == &of_verdict.card;
    const LedgerBar bar = BarOf(card, is_of_verdict ? &of_verdict.holders : nullptr, Side::kOnly);
    figures += FigureOf(bar, bar.total);
  }
  return SectionOf(figures);
}

std::string LedgerBarsOfTwo(const HeldCard& before, const HeldCard& after) {
  const LedgerBar first = BarOf(before.card, &before.holders, Side::kBefore);
  const LedgerBar second = BarOf(after.card, &after.holders, Side::kAfter);
  const uint64_t scale = std::max(first.total, second.total);
  return SectionOf(FigureOf(first, scale) + FigureOf(second, scale));
}

}  // namespace memtrace::report
