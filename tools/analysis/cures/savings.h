// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns the savings of at least 1 percent of what is held, and smaller ones that matter.
// docs/reference/report.md has the rule of each.
std::vector<Saving> FindSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_SAVINGS_H_
