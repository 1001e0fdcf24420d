// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_REMEDIES_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_REMEDIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/cures/savings.h"
#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/verdict/next_step.h"
#include "tools/analysis/verdict/verdict.h"

namespace memtrace::analysis {

// A change that follows from facts in the trace, with the bytes that the card then has to hold,
// context included.
struct Remedy {
  std::string name;
  uint64_t this_step = 0;             // to finish the step that failed; without one, at the peak
  std::optional<uint64_t> next_step;  // to get through the step after it, where that is foreseen
  std::string_view how_known;         // "exact", "replayed", "estimated"
  std::string change;
  std::string cost;
  std::string_view hook = "";  // as of remedies::Row
  Effort effort = Effort::kLines;
  bool at_least = false;     // what the rest of the step needs is not known, and comes on top
  bool ends_growth = false;  // of Saving

  // Returns the larger of the two, which decides whether the program runs.
  uint64_t need() const;
};

// The bytes that the card has to hold without a change.
struct Need {
  uint64_t bytes = 0;
  bool at_least = false;  // as of Remedy
};

// `failed_in` is the number of the failed step, 0 if none failed; it is compared with the number of
// `next`, which is about that step if it was foreseen from the step before.
Need NeedOf(const Verdict& verdict, const Ledger& ledger, const std::optional<NextStep>& next,
            uint64_t failed_in);

// Returns the remedies in order: those that end the growth, then those that fit, then by least
// effort, then by least need. Of those that may fit, the ones that leave the results as they are
// come first. A larger card comes after all others that fit.
std::vector<Remedy> FindRemedies(const Verdict& verdict, const Ledger& ledger,
                                 const std::optional<NextStep>& next, uint64_t failed_in,
                                 const std::vector<Saving>& savings);

// Marks each remedy that does not end the growth as not known to fit, because what grows with every
// step fills the card in a later one. Sorts the remedies again.
void MarkFitsUncertain(std::vector<Remedy>& remedies, const Ledger& ledger);

// Drops remedies that only free memory of the program and do not end the growth: they postpone the
// failure that the growth causes.
void DropPostponingRemedies(std::vector<Remedy>& remedies);

// Sorts the remedies as FindRemedies() returns them.
void RankRemedies(std::vector<Remedy>& remedies, const Ledger& ledger);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_REMEDIES_H_
