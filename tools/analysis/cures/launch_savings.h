// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_LAUNCH_SAVINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_LAUNCH_SAVINGS_H_

#include <vector>

#include "tools/analysis/cures/saving_facts.h"

namespace memtrace::analysis {

// What other processes have of the card, and how those of the same launch would keep off it.
std::vector<Saving> FindLaunchSavings(const SavingFacts& facts);

// True if ranks of the launch hold here what each of them loaded from files: of a tensor that was
// saved from this card, torch.load makes one on this card in every rank.
bool RanksLoadHere(const SavingFacts& facts);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_LAUNCH_SAVINGS_H_
