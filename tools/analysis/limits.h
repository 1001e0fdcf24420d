// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_LIMITS_H_
#define MEMTRACE_TOOLS_ANALYSIS_LIMITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/explanation.h"

namespace memtrace::analysis {

// Limits on what a run may take of each card, in bytes.
struct Limits {
  std::optional<uint64_t> peak;             // requested
  std::optional<uint64_t> growth_per_step;  // GrowthPerStep
  std::map<trace::Role, uint64_t> roles;    // requested at the card's peak
  bool allow_out_of_memory = false;
  bool fail_on_retry = false;  // also for requests that the program got over

  bool any() const { return peak || growth_per_step || !roles.empty(); }
};

struct LimitCheck {
  std::optional<int32_t> card;   // none: of the whole run
  std::string what;              // "peak", "growth", "activation", "out of memory"
  std::optional<int64_t> found;  // bytes; out of memory: how often; none: the trace does not say
  int64_t limit = 0;
  uint64_t steps = 0;  // growth: those that the trace has of the card

  bool holds() const { return found && *found <= limit; }
  bool is_exceeded() const { return found && *found > limit; }
};

// Checks every limit on every card, in order of card. Growth is not known from fewer than
// kStepsForGrowth steps.
std::vector<LimitCheck> CheckLimits(const Explanation& explanation, const Limits& limits);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_LIMITS_H_
