// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REMEDIES_H_
#define MEMTRACE_TOOLS_ANALYSIS_REMEDIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/card_ledger.h"
#include "tools/analysis/foreach_copy.h"
#include "tools/analysis/next_step.h"
#include "tools/analysis/verdict.h"

namespace memtrace::analysis {

// A change that follows from facts in the trace, with what the card then has to hold: bytes,
// context and all.
struct Remedy {
  std::string name;
  uint64_t this_step = 0;             // to finish the step that failed
  std::optional<uint64_t> next_step;  // to get through the step after it, where that is foreseen
  std::string_view how_known;         // "estimated"
  std::string change;

  // The larger of the two: what decides whether the program runs.
  uint64_t need() const;
};

// Least need first. Empty if the step's need is not known: then every figure would be a guess.
// `failed_in` is the number of the step that failed: the `next` of the step before it speaks of
// that one.
std::vector<Remedy> FindRemedies(const Verdict& verdict, const Ledger& ledger,
                                 const std::optional<ForeachCopy>& copy,
                                 const std::optional<NextStep>& next, uint64_t failed_in);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REMEDIES_H_
