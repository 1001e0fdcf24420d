// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_SUMMARY_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_SUMMARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/replayed/card_ledger.h"

namespace memtrace::analysis {

// Requested bytes of one role and one owner.
struct SummaryRow {
  std::string role;
  std::string owner;
  uint64_t bytes = 0;
};

struct CardSummary {
  int32_t index = 0;
  uint64_t live_requested = 0;  // until their free is completed
  uint64_t reserved = 0;
  uint64_t peak = 0;
  std::string peak_at;           // "step 3, forward"
  std::vector<SummaryRow> now;   // largest first
  std::vector<SummaryRow> held;  // at the peak
  Ledger ledger;  // since its last sample, all free memory in segments counts as `cached`
  // Live bytes gained a step over the latest steps (up to 16), to the nearest byte.
  int64_t growth_per_step = 0;
};

// The summary that a process wrote into its trace (docs/reference/trace.md, schema
// memtrace.summary/1).
struct RunSummary {
  bool is_last = false;  // the process has ended its trace
  uint64_t events = 0;
  uint64_t lost_events = 0;
  uint64_t time_ns = 0;
  uint64_t unix_ns = 0;
  uint64_t steps = 0;
  std::string at;
  uint64_t out_of_memory = 0;
  uint64_t cards_in_all = 0;
  std::vector<CardSummary> cards;
};

// Returns kInvalidArgument if it is no such summary.
absl::StatusOr<RunSummary> ParseRunSummary(const nlohmann::ordered_json& json);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_SUMMARY_H_
