// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_ACTIVATION_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_ACTIVATION_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns savings of what a pass computes and need not keep whole: attention weights, outputs that
// DataParallel gathers, logits, casts of autocast. docs/reference/report.md has the rule of each.
std::vector<Saving> FindActivationSavings(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_ACTIVATION_SAVINGS_H_
