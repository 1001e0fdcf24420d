// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARDS_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analysis/explained/card.h"
#include "tools/analysis/replayed/captures.h"
#include "tools/analysis/replayed/timeline.h"

namespace memtrace::analysis {

// Returns where the bytes of `device` are at the failure, as the process recorded it. If it
// recorded nothing, returns the ledger of `replayed`, which is of the same moment.
Ledger LedgerAtFailure(const FailedRequest& failed, int32_t device, const CapturedCard& replayed);

// Returns the index of the fullest card in `cards`; without known sizes, that of the card that
// holds most.
size_t FullestCard(const std::vector<CardExplanation>& cards);

// Returns the index of `device` in `cards`, or their number if it is not there.
size_t CardOf(const std::vector<CardExplanation>& cards, int32_t device);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARDS_H_
