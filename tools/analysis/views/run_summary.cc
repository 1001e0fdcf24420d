// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/run_summary.h"

#include <algorithm>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/events/card_fields.h"
#include "tools/analysis/source/frames.h"
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

SummaryPosition ParsePosition(const ordered_json& at) {
  return {.step = Count(at.at("step")), .phase = at.at("phase").get<std::string>()};
}

// Returns nothing if an older writer did not write it.
std::optional<uint64_t> NewerCount(const ordered_json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return std::nullopt;
  return Count(*found);
}

int32_t CardIndex(const ordered_json& json) {
  return static_cast<int32_t>(json.get_ref<const ordered_json::number_integer_t&>());
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
  card.index = CardIndex(json.at("index"));
  card.live_requested = Count(json.at("live_requested"));
  card.live_allocated = Count(json.at("live_allocated"));
  card.reserved = Count(json.at("reserved"));
  card.most_reserved = NewerCount(json, "peak_reserved");
  card.peak = Count(json.at("peak").at("bytes"));
  card.peak_at = ParsePosition(json.at("peak").at("at"));
  card.allocated_at_peak = NewerCount(json.at("peak"), "allocated");
  card.reserved_at_peak = NewerCount(json.at("peak"), "reserved");
  card.now = Rows(json.at("now"));
  card.held = Rows(json.at("peak").at("held"));
  card.ledger = LedgerOf(json);
  card.growth_per_step = GrowthOf(Counts(json.at("live_at_steps")));
  return card;
}

// Returns the user's innermost line, or the frame that tells most; "" without frames.
std::string LineOf(const ordered_json& frames) {
  std::vector<trace::Frame> stack;
  for (const ordered_json& frame : frames) {
    stack.push_back({.file = frame.at(0).get<std::string>(),
                     .function = frame.at(1).get<std::string>(),
                     .line = static_cast<uint32_t>(Count(frame.at(2)))});
  }
  if (stack.empty()) return "";
  const std::string line = UserLine(stack);
  return line.empty() ? ShortFrame(MostInformativeFrame(stack)) : line;
}

SummaryFailure FailureOf(const ordered_json& json) {
  SummaryFailure failure;
  failure.card = CardIndex(json.at("device"));
  failure.requested = Count(json.at("requested"));
  failure.obtainable = Count(json.at("obtainable"));
  failure.owner = json.at("owner").get<std::string>();
  failure.at = ParsePosition(json.at("at"));
  failure.cause = json.value("cause", "");
  if (json.contains("stack")) failure.line = LineOf(json.at("stack"));
  return failure;
}

RunSummary SummaryOf(const ordered_json& json) {
  RunSummary summary;
  summary.is_last = Count(json.at("last")) != 0;
  summary.events = Count(json.at("events"));
  summary.lost_events = Count(json.at("lost_events"));
  summary.time_ns = Count(json.at("time_ns"));
  summary.unix_ns = Count(json.at("unix_ns"));
  summary.steps = Count(json.at("steps"));
  summary.at = ParsePosition(json.at("at"));
  summary.out_of_memory = Count(json.at("out_of_memory"));
  if (json.contains("last_out_of_memory"))
    summary.last_failure = FailureOf(json.at("last_out_of_memory"));
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
