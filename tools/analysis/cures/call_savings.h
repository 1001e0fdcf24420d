// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_CALL_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_CALL_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns savings from replacing a call that the program makes by another, recognized by frames and
// by what the hooks noted of calls, files and the user's source: masks that are repeated, images
// that are decoded at once, caches that grow by torch.cat, predictions that are kept, weights that
// take more than in their file. docs/reference/report.md has the rule of each.
std::vector<Saving> FindCallSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_CALL_SAVINGS_H_
