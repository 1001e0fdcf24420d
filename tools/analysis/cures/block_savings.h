// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_BLOCK_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_BLOCK_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns savings of blocks that nothing has to keep, recognized by where they were made and by
// their roles: loaded checkpoints, graphs without a backward, copies of trained modules, gradients
// of an earlier step, buckets, pools of graphs. docs/reference/report.md has the rule of each.
std::vector<Saving> FindBlockSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_BLOCK_SAVINGS_H_
