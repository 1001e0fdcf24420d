// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_OPTIMIZER_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_OPTIMIZER_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns savings of gradients, states and the copies of updates, both of those that exist and of
// those that the verdict counts as still to come. docs/reference/report.md has the rule of each.
std::vector<Saving> FindOptimizerSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_OPTIMIZER_SAVINGS_H_
