// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CARD_LEDGER_H_
#define MEMTRACE_TOOLS_ANALYSIS_CARD_LEDGER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/trace/event.h"
#include "tools/analysis/live_set.h"

namespace memtrace::analysis {

// The unit in which a driver maps memory: what is free in whole ones could be mapped elsewhere.
inline constexpr uint64_t kGranule = uint64_t{2} << 20;

struct LedgerEntry {
  std::string_view name;
  int64_t bytes = 0;
};

// Where every byte of one card is: the names and order of kLedgerNames, summing to `total`.
// `unexplained`, the last, is what the others leave over; it may be negative.
struct Ledger {
  uint64_t total = 0;
  bool total_known = true;  // else `total` is only the sum of what the trace shows
  uint64_t largest_hole = 0;
  std::vector<LedgerEntry> entries;

  int64_t bytes(std::string_view name) const;
  uint64_t positive(std::string_view name) const;  // bytes(), 0 where that is negative
};

inline constexpr std::array<std::string_view, 11> kLedgerNames = {
    "context",         "live",  "rounding",      "stream_wait",
    "cached",          "holes", "private_pools", "outside_allocator",
    "other_processes", "free",  "unexplained"};

// From the process's own account of the card at one moment.
Ledger LedgerFromAccount(const trace::CardLedger& account);

// The allocator's part as replayed up to now, the rest as in the nearest sample of the card.
Ledger LedgerFromReplay(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                        const MappedRanges& mapped, const std::optional<trace::CardLedger>& sample);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CARD_LEDGER_H_
