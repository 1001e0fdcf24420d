// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_UNNEEDED_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_UNNEEDED_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns savings of what the program holds and no longer needs.
std::vector<Saving> FindUnneededSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_UNNEEDED_SAVINGS_H_
