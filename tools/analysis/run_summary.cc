// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/run_summary.h"

#include <algorithm>

#include "nlohmann/json.hpp"
#include "profiler/trace/card_fields.h"

namespace memtrace::analysis {
namespace {

using nlohmann::ordered_json;

std::string PositionText(const ordered_json& at) {
  return "step " + std::to_string(at.at("step").get<uint64_t>()) + ", " +
         at.at("phase").get<std::string>();
}

std::vector<SummaryRow> Rows(const ordered_json& json) {
  std::vector<SummaryRow> rows;
  rows.reserve(json.size());
  for (const ordered_json& row : json) {
    rows.push_back(
        {row.at(0).get<std::string>(), row.at(1).get<std::string>(), row.at(2).get<uint64_t>()});
  }
  return rows;
}

uint64_t Less(uint64_t a, uint64_t b) { return a - std::min(a, b); }

// As sampled if nothing has changed since; else with the allocator's part as it is now.
Ledger LedgerOf(const ordered_json& card) {
  const auto figure = [&card](const char* name) { return card.at(name).get<uint64_t>(); };
  trace::CardLedger account;
  if (card.contains("sample")) {
    for (const trace::CardField& field : trace::kCardFields) {
      account.*field.value = card.at("sample").value(std::string(field.name), uint64_t{0});
    }
  }
  const uint64_t live_requested = Less(figure("live_requested"), figure("waiting_requested"));
  const uint64_t reserved = figure("reserved");
  if (!card.contains("sample") || account.live_requested != live_requested ||
      account.reserved != reserved) {
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
  return ledger;
}

int64_t GrowthOf(const std::vector<uint64_t>& levels) {
  if (levels.size() < 2) return 0;
  const auto gained = static_cast<int64_t>(levels.back() - levels.front());
  return gained / static_cast<int64_t>(levels.size() - 1);
}

CardSummary CardOf(const ordered_json& json) {
  CardSummary card;
  card.index = static_cast<int32_t>(json.at("index").get<int64_t>());
  card.live_requested = json.at("live_requested").get<uint64_t>();
  card.reserved = json.at("reserved").get<uint64_t>();
  card.peak = json.at("peak").at("bytes").get<uint64_t>();
  card.peak_at = PositionText(json.at("peak").at("at"));
  card.now = Rows(json.at("now"));
  card.held = Rows(json.at("peak").at("held"));
  card.ledger = LedgerOf(json);
  card.growth_per_step = GrowthOf(json.at("live_at_steps").get<std::vector<uint64_t>>());
  return card;
}

RunSummary SummaryOf(const ordered_json& json) {
  RunSummary summary;
  summary.is_last = json.at("last").get<int>() != 0;
  summary.events = json.at("events").get<uint64_t>();
  summary.lost_events = json.at("lost_events").get<uint64_t>();
  summary.time_ns = json.at("time_ns").get<uint64_t>();
  summary.unix_ns = json.at("unix_ns").get<uint64_t>();
  summary.steps = json.at("steps").get<uint64_t>();
  summary.at = PositionText(json.at("at"));
  summary.out_of_memory = json.at("out_of_memory").get<uint64_t>();
  summary.cards_in_all = json.at("cards_in_all").get<uint64_t>();
  for (const ordered_json& card : json.at("cards")) summary.cards.push_back(CardOf(card));
  return summary;
}

}  // namespace

// The library tells of what is missing or of another type by exceptions.
absl::StatusOr<RunSummary> ParseRunSummary(const ordered_json& json) {
  try {
    return SummaryOf(json);
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(std::string("the summary cannot be read: ") + error.what());
  }
}

}  // namespace memtrace::analysis
