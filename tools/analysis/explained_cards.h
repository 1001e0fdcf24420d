// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARDS_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/analysis/replayed/captures.h"
#include "tools/analysis/replayed/timeline.h"

namespace memtrace::analysis {

// Returns where the bytes of `device` are at the failure, as the process said it; `replayed`, of
// the same moment, if it said nothing.
Ledger LedgerAtFailure(const FailedRequest& failed, int32_t device, const CapturedCard& replayed);

// Returns the place in `cards` of the fullest; without known sizes of the one that holds most.
size_t FullestCard(const std::vector<CardExplanation>& cards);

// Returns the place of `device` in `cards`, or their number.
size_t CardOf(const std::vector<CardExplanation>& cards, int32_t device);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARDS_H_
