// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/cards_table.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "messages/message.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::Explanation;
using analysis::Ledger;

constexpr size_t kCardsNamed = 16;

uint64_t Live(const CardExplanation& card) {
  return card.ledger.positive(analysis::LedgerPart::kLive);
}

// Returns all bytes that are not live, cached or free: context, rounding, holes, pools, other
// processes.
uint64_t Other(const Ledger& ledger) {
  const uint64_t named = ledger.positive(analysis::LedgerPart::kLive) +
                         ledger.positive(analysis::LedgerPart::kCached) +
                         ledger.positive(analysis::LedgerPart::kFree);
  return ledger.total - std::min(ledger.total, named);
}

bool IsOfVerdict(const Explanation& explanation, const CardExplanation& card) {
  return &card == &explanation.card_of_verdict();
}

std::string RemarkOf(const Explanation& explanation, const CardExplanation& card) {
  if (card.peak.bytes == 0) return Message("never used");
  if (!IsOfVerdict(explanation, card)) return "";
  return explanation.failure.request ? Message("ran out of memory") : Message("the fullest");
}

// A snapshot knows the free bytes only where a request failed.
std::string FreeText(const Ledger& ledger, TableUnit unit) {
  const uint64_t free = ledger.positive(analysis::LedgerPart::kFree);
  return ledger.total_known || free > 0 ? FormatFigure(free, unit) : "?";
}

TableRow RowOf(const Explanation& explanation, const CardExplanation& card, TableUnit unit) {
  const Ledger& ledger = card.ledger;
  const auto known = [&](uint64_t bytes) {
    return ledger.total_known ? FormatFigure(bytes, unit) : std::string("?");
  };
  TableRow row{.cells = {Message("card $0", card.index), FormatFigure(Live(card), unit),
                         FormatFigure(ledger.positive(analysis::LedgerPart::kCached), unit),
                         known(Other(ledger)), FreeText(ledger, unit), known(ledger.total),
                         FormatFigure(card.peak.bytes, unit)}};
  if (std::string remark = RemarkOf(explanation, card); !remark.empty())
    row.remarks.push_back(std::move(remark));
  return row;
}

// True if the least is less than half of the most.
bool IsUneven(const std::vector<const CardExplanation*>& cards) {
  const auto [least, most] = std::minmax_element(
      cards.begin(), cards.end(), [](const auto* a, const auto* b) { return Live(*a) < Live(*b); });
  return Live(**least) < Live(**most) / 2;
}

// True if a run completed and left most of the card free, so that no other split is needed.
bool LeavesMostOfCardFree(const Explanation& explanation) {
  const Ledger& ledger = explanation.card_of_verdict().ledger;
  return !explanation.failure.request && ledger.total_known &&
         ledger.positive(analysis::LedgerPart::kLive) < ledger.total / 2;
}

// True if the card counts. If the run completed, only cards that it used count. At a failure an
// idle card also counts, unless another process has memory there, which the card may be meant for.
bool Counts(const Explanation& explanation, const CardExplanation& card) {
  const bool is_idle = explanation.failure.request &&
                       card.ledger.positive(analysis::LedgerPart::kOtherProcesses) == 0;
  return Live(card) > 0 || is_idle;
}

std::vector<const CardExplanation*> CardsThatCount(const Explanation& explanation) {
  std::vector<const CardExplanation*> cards;
  for (const CardExplanation& card : explanation.cards)
    if (Counts(explanation, card)) cards.push_back(&card);
  return cards;
}

// Returns "7.5, 78.3, 18.8 GiB", all in one unit.
std::string FiguresOf(const std::vector<const CardExplanation*>& cards) {
  uint64_t most = 0;
  for (const CardExplanation* card : cards) most = std::max(most, Live(*card));
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  const TableUnit unit = most < kGiB ? TableUnit{"MiB", kGiB >> 10} : TableUnit{"GiB", kGiB};
  std::string text;
  for (const CardExplanation* card : cards) {
    char figure[32];
    std::snprintf(figure, sizeof(figure), "%.1f",
                  static_cast<double>(Live(*card)) / static_cast<double>(unit.bytes));
    text += (text.empty() ? "" : ", ") + std::string(figure);
  }
  return text + " " + std::string(unit.name);
}

std::string IndicesOf(const std::vector<const CardExplanation*>& cards) {
  std::string text;
  for (const CardExplanation* card : cards)
    text += (text.empty() ? "" : ", ") + std::to_string(card->index);
  return text;
}

}  // namespace

Section CardsSection(const Explanation& explanation) {
  Section section{.id = "cards", .title = Message("CARDS")};
  if (explanation.cards.size() < 2) return section;
  uint64_t largest = 0;
  for (const CardExplanation& card : explanation.cards)
    largest = std::max({largest, card.ledger.total, card.peak.bytes});
  const TableUnit unit = UnitFor(largest);
  using Kind = TableColumn::Kind;
  Table table;
  table.columns = {{"", 8},
                   {Message("in use $0", unit.name), 11, Kind::kFigure},
                   {Message("cached"), 8, Kind::kFigure},
                   {Message("other"), 8, Kind::kFigure},
                   {Message("free"), 8, Kind::kFigure},
                   {Message("total"), 8, Kind::kFigure},
                   {Message("peak"), 8, Kind::kFigure}};
  for (const CardExplanation& card : explanation.cards)
    table.rows.push_back(RowOf(explanation, card, unit));
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(
      Note{Message("\"other\" is the rest of the card, such as the context, holes, pools and other "
                   "processes. \"peak\" counts requested bytes.")});
  return section;
}

std::string UnevenSentence(const Explanation& explanation) {
  const std::vector<const CardExplanation*> cards = CardsThatCount(explanation);
  if (explanation.run.is_one_of_ranks || cards.size() < 2 || cards.size() > kCardsNamed ||
      LeavesMostOfCardFree(explanation) || !IsUneven(cards))
    return "";
  return Message("The load is uneven: cards $0 have $1 in use.", IndicesOf(cards),
                 FiguresOf(cards));
}

}  // namespace memtrace::report
