// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_BATCH_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_BATCH_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns the saving of half as many examples, tokens or generated sequences in a call of the
// model. docs/reference/report.md has the rule of each.
std::vector<Saving> FindBatchSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_BATCH_SAVINGS_H_
