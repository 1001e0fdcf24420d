// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/run_summary.h"

#include <algorithm>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/events/card_fields.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

using nlohmann::ordered_json;

// get<uint64_t>() would accept 1e300. Anything but a whole number from 0 on throws a type_error.
uint64_t Count(const ordered_json& json) {
  return json.get_ref<const ordered_json::number_unsigned_t&>();
}

std::vector<uint64_t> Counts(const ordered_json& json) {
  std::vector<uint64_t> counts;
  for (const ordered_json& count : json) counts.push_back(Count(count));
  return counts;
}

std::string PositionText(const ordered_json& at) {
  return Message("step $0, $1", Count(at.at("step")), at.at("phase").get<std::string>());
}

std::vector<SummaryRow> Rows(const ordered_json& json) {
  std::vector<SummaryRow> rows;
  rows.reserve(json.size());
  for (const ordered_json& row : json) {
    rows.push_back({row.at(0).get<std::string>(), row.at(1).get<std::string>(), Count(row.at(2))});
  }
  return rows;
}

// Returns the ledger as sampled if nothing has changed since; else with the allocator's part as it
// is now.
Ledger LedgerOf(const ordered_json& card) {
  const auto figure = [&card](const char* name) { return Count(card.at(name)); };
  trace::CardLedger account;
  if (card.contains("sample")) {
    for (const trace::CardField& field : trace::kCardFields) {
      const auto value = card.at("sample").find(field.name);
      account.*field.value = value == card.at("sample").end() ? 0 : Count(*value);
    }
  }
  const uint64_t live_requested = Less(figure("live_requested"), figure("waiting_requested"));
  const uint64_t reserved = figure("reserved");
  const bool has_changed = !card.contains("sample") || account.live_requested != live_requested ||
                           account.reserved != reserved;
  if (has_changed) {
    account.live_requested = live_requested;
    account.live_allocated = Less(figure("live_allocated"), figure("waiting_allocated"));
    account.stream_wait = figure("waiting_allocated");
    account.cached = Less(reserved, figure("live_allocated"));
    account.holes = account.largest_hole = account.private_pools = 0;
    account.free = Less(account.free + account.reserved, reserved);
    account.reserved = reserved;
    if (account.total == 0) account.total = std::max(reserved, figure("live_allocated"));
  }
  Ledger ledger = LedgerFromAccount(account);
  ledger.total_known = card.contains("sample");
  ledger.pieces_known = !has_changed || account.cached == 0;
  return ledger;
}

int64_t GrowthOf(const std::vector<uint64_t>& levels) {
  if (levels.size() < 2) return 0;
  const auto gained = static_cast<int64_t>(levels.back() - levels.front());
  return gained / static_cast<int64_t>(levels.size() - 1);
}

CardSummary CardOf(const ordered_json& json) {
  CardSummary card;
  card.index =
      static_cast<int32_t>(json.at("index").get_ref<const ordered_json::number_integer_t&>());
  card.live_requested = Count(json.at("live_requested"));
  card.reserved = Count(json.at("reserved"));
  card.peak = Count(json.at("peak").at("bytes"));
  card.peak_at = PositionText(json.at("peak").at("at"));
  card.now = Rows(json.at("now"));
  card.held = Rows(json.at("peak").at("held"));
  card.ledger = LedgerOf(json);
  card.growth_per_step = GrowthOf(Counts(json.at("live_at_steps")));
  return card;
}

RunSummary SummaryOf(const ordered_json& json) {
  RunSummary summary;
  summary.is_last = Count(json.at("last")) != 0;
  summary.events = Count(json.at("events"));
  summary.lost_events = Count(json.at("lost_events"));
  summary.time_ns = Count(json.at("time_ns"));
  summary.unix_ns = Count(json.at("unix_ns"));
  summary.steps = Count(json.at("steps"));
  summary.at = PositionText(json.at("at"));
  summary.out_of_memory = Count(json.at("out_of_memory"));
  summary.cards_in_all = Count(json.at("cards_in_all"));
  for (const ordered_json& card : json.at("cards")) summary.cards.push_back(CardOf(card));
  return summary;
}

}  // namespace

// The library throws an exception if a member is missing or of another type.
absl::StatusOr<RunSummary> ParseRunSummary(const ordered_json& json) {
  try {
    return SummaryOf(json);
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(Message("the summary cannot be read: $0", error.what()));
  }
}

}  // namespace memtrace::analysis
