// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_LAUNCH_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_LAUNCH_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// Returns savings of the memory that other processes hold on the card, with the change that would
// keep those of the same launch off it.
std::vector<Saving> FindLaunchSavings(const SavingFacts& facts);

// True if ranks of the launch hold on this card what each of them loaded from files: torch.load
// makes a tensor that was saved from this card on this card again, in every rank.
bool RanksLoadOntoThisCard(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_LAUNCH_SAVINGS_H_
