// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Those of at least a hundredth of what is held. docs/report.md has the rule of each.
std::vector<Saving> FindSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_SAVINGS_H_
