// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_SUMMARY_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_SUMMARY_H_

#include <cstdint>
#include <optional>
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

struct SummaryPosition {
  uint64_t step = 0;
  std::string phase;
};

struct CardSummary {
  int32_t index = 0;
  uint64_t live_requested = 0;  // until their free is completed
  uint64_t live_allocated = 0;  // the same
  uint64_t reserved = 0;
  uint64_t peak = 0;
  SummaryPosition peak_at;
  // Nothing if an older memtrace wrote the summary.
  std::optional<uint64_t> most_reserved;      // of all moments
  std::optional<uint64_t> allocated_at_peak;  // includes blocks whose free is not completed
  std::optional<uint64_t> reserved_at_peak;
  std::vector<SummaryRow> now;   // largest first
  std::vector<SummaryRow> held;  // at the peak
  Ledger ledger;  // since its last sample, all free memory in segments counts as `cached`
  // Live bytes gained a step over the latest steps (up to 16), to the nearest byte.
  int64_t growth_per_step = 0;
};

// The latest out-of-memory error of a run.
struct SummaryFailure {
  int32_t card = 0;
  uint64_t requested = 0;
  uint64_t obtainable = 0;
  std::string owner;
  SummaryPosition at;
  std::string cause;  // a name of causes.def, as the process itself knew it; empty: not known
  std::string line;   // "train.py:20"; empty: not known
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
  SummaryPosition at;
  uint64_t out_of_memory = 0;
  std::optional<SummaryFailure> last_failure;
  uint64_t cards_in_all = 0;
  std::vector<CardSummary> cards;
};

// Returns kInvalidArgument if it is no such summary.
absl::StatusOr<RunSummary> ParseRunSummary(const nlohmann::ordered_json& json);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_SUMMARY_H_
