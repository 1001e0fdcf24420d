// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/card_columns.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/card_ledger.h"

namespace memtrace::fleet {
namespace {

using analysis::CardSummary;
using analysis::RunSummary;
using nlohmann::ordered_json;

constexpr size_t kMostOwners = 10;
// The summary has the levels of the last 17 steps; the first steps, which make optimizer states,
// are not growth.
constexpr uint64_t kStepsOfGrowth = 20;

using Cards = std::vector<const CardSummary*>;

// A process sees cards on which it has nothing.
bool IsUsed(const CardSummary& card) {
  return card.peak > 0 || card.reserved > 0 || card.live_requested > 0 ||
         card.ledger.positive(analysis::LedgerPart::kContext) > 0;
}

Cards UsedCards(const RunSummary& summary) {
  Cards used;
  for (const CardSummary& card : summary.cards)
    if (IsUsed(card)) used.push_back(&card);
  return used;
}

// Returns nothing if the figure of one card is not known.
template <typename Figure>
std::optional<uint64_t> SumOf(const Cards& cards, const Figure& figure) {
  uint64_t sum = 0;
  for (const CardSummary* card : cards) {
    const std::optional<uint64_t> bytes = figure(*card);
    if (!bytes) return std::nullopt;
    sum = CappedSum(sum, *bytes);
  }
  return sum;
}

struct CardColumn {
  const char* name;
  std::optional<uint64_t> (*figure)(const CardSummary& card);
};

// The columns of a row, which are sums over its cards, and of each card in `per_card`.
constexpr CardColumn kCardColumns[] = {
    {"card_bytes",
     [](const CardSummary& card) -> std::optional<uint64_t> {
       if (!card.ledger.total_known) return std::nullopt;
       return card.ledger.total;
     }},
    {"requested_bytes",
     [](const CardSummary& card) -> std::optional<uint64_t> { return card.live_requested; }},
    {"allocated_bytes",
     [](const CardSummary& card) -> std::optional<uint64_t> { return card.live_allocated; }},
    {"reserved_bytes",
     [](const CardSummary& card) -> std::optional<uint64_t> { return card.reserved; }},
    {"peak_requested_bytes",
     [](const CardSummary& card) -> std::optional<uint64_t> { return card.peak; }},
    {"peak_allocated_bytes", [](const CardSummary& card) { return card.allocated_at_peak; }},
    {"peak_reserved_bytes", [](const CardSummary& card) { return card.most_reserved; }},
    {"reserved_at_peak_bytes", [](const CardSummary& card) { return card.reserved_at_peak; }},
};

void AddCards(const Cards& cards, ColumnValues& row) {
  row.Number("cards", cards.size());
  for (const CardColumn& column : kCardColumns)
    row.Number(column.name, SumOf(cards, column.figure));
  ordered_json list = ordered_json::array();
  for (const CardSummary* card : cards) {
    ordered_json values = ordered_json::object();
    values["card"] = card->index;
    for (const CardColumn& column : kCardColumns)
      if (const auto bytes = column.figure(*card)) values[column.name] = ColumnCount(*bytes);
    list.push_back(std::move(values));
  }
  row.List("per_card", std::move(list));
}

// Returns true if the process has looked at every card.
bool AreSampled(const Cards& cards) {
  return std::all_of(cards.begin(), cards.end(),
                     [](const CardSummary* card) { return card->ledger.total_known; });
}

// Adds the parts of the cards, such as `cached_bytes`, which sum to `card_bytes`.
void AddLedger(const Cards& cards, ColumnValues& row) {
  if (!AreSampled(cards)) return;
  for (size_t i = 0; i < analysis::kLedgerParts; ++i) {
    const auto part = static_cast<analysis::LedgerPart>(i);
    int64_t sum = 0;
    for (const CardSummary* card : cards)
      if (__builtin_add_overflow(sum, card->ledger.bytes(part), &sum)) return;
    row.Signed(absl::StrCat(std::string(LedgerPartName(part)), "_bytes").c_str(), sum);
  }
}

// Adds memory beside the cards, such as `on_host_bytes`: what sleeps, and what the host has.
void AddOffCard(const Cards& cards, ColumnValues& row) {
  if (!AreSampled(cards)) return;
  for (size_t i = 0; i < analysis::kOffCardParts; ++i) {
    analysis::OffCardEntry sum{static_cast<analysis::OffCardPart>(i), 0};
    for (const CardSummary* card : cards)
      for (const analysis::OffCardEntry& entry : card->ledger.off_card)
        if (entry.part == sum.part) sum.bytes = CappedSum(sum.bytes, entry.bytes);
    row.Number(absl::StrCat(std::string(sum.name()), "_bytes").c_str(), sum.bytes);
  }
}

// Returns the bytes at the peaks by role; roles without a name of ours are "other".
std::map<std::string, uint64_t> BytesByRole(const Cards& cards) {
  std::map<std::string, uint64_t> bytes = {{"other", 0}};
  for (size_t role = 0; role < trace::kRoleCount; ++role)
    bytes[std::string(RoleName(static_cast<trace::Role>(role)))] = 0;
  for (const CardSummary* card : cards) {
    for (const analysis::SummaryRow& held : card->held) {
      uint64_t& sum = bytes[bytes.contains(held.role) ? held.role : "other"];
      sum = CappedSum(sum, held.bytes);
    }
  }
  return bytes;
}

void AddRoles(const Cards& cards, ColumnValues& row) {
  const std::map<std::string, uint64_t> roles = BytesByRole(cards);
  for (const auto& [role, bytes] : roles)
    row.Number(absl::StrCat("peak_", role, "_bytes").c_str(), bytes);
  const auto largest = std::max_element(
      roles.begin(), roles.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest->second == 0) return;
  row.Text("largest_role", largest->first);
  row.Number("largest_role_bytes", largest->second);
}

struct OwnedBytes {
  int32_t card = 0;
  const analysis::SummaryRow* held = nullptr;
};

void AddOwners(const Cards& cards, ColumnValues& row) {
  std::vector<OwnedBytes> owners;
  for (const CardSummary* card : cards)
    for (const analysis::SummaryRow& held : card->held) owners.push_back({card->index, &held});
  std::stable_sort(owners.begin(), owners.end(), [](const OwnedBytes& a, const OwnedBytes& b) {
    return a.held->bytes > b.held->bytes;
  });
  owners.resize(std::min(owners.size(), kMostOwners));
  ordered_json list = ordered_json::array();
  for (const OwnedBytes& owner : owners) {
    ordered_json values = ordered_json::object();
    values["card"] = owner.card;
    values["role"] = owner.held->role;
    if (owner.held->owner != "(none)") values["owner"] = owner.held->owner;
    values["bytes"] = ColumnCount(owner.held->bytes);
    list.push_back(std::move(values));
  }
  row.List("owners", std::move(list));
}

// Adds where the highest of the cards' peaks was.
void AddPeakPosition(const Cards& cards, ColumnValues& row) {
  const auto highest = std::max_element(
      cards.begin(), cards.end(),
      [](const CardSummary* a, const CardSummary* b) { return a->peak < b->peak; });
  if (highest == cards.end() || (*highest)->peak == 0) return;
  row.Number("peak_step", (*highest)->peak_at.step);
  row.Text("peak_phase", (*highest)->peak_at.phase);
}

void AddGrowth(const RunSummary& summary, const Cards& cards, ColumnValues& row) {
  if (summary.steps < kStepsOfGrowth) return;
  int64_t sum = 0;
  for (const CardSummary* card : cards)
    if (__builtin_add_overflow(sum, card->growth_per_step, &sum)) return;
  row.Signed("growth_bytes_per_step", sum);
}

}  // namespace

void AddCardColumns(const RunSummary& summary, ColumnValues& row) {
  const Cards cards = UsedCards(summary);
  AddCards(cards, row);
  AddLedger(cards, row);
  AddOffCard(cards, row);
  AddPeakPosition(cards, row);
  AddRoles(cards, row);
  AddOwners(cards, row);
  AddGrowth(summary, cards, row);
}

}  // namespace memtrace::fleet
