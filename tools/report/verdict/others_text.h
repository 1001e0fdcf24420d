// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_OTHERS_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_OTHERS_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explained/card.h"

// Describes the other processes in a card's ledger: those of the same launch, and strangers.
namespace memtrace::report {

struct OtherRow {
  std::string name;  // "4 DataLoader workers", "rank 1", "other programs"
  uint64_t bytes = 0;
  std::string remark;  // "a context each", "largest: parameters at train.py:9, 4.00 GiB"
};

// Returns rows that sum to `other_processes` of the ledger. Empty if nothing is known of them.
std::vector<OtherRow> OtherRows(const analysis::CardExplanation& card);

// Returns "4 DataLoader workers of this program hold 2.03 GiB of the card (520.0 MiB each, a
// context)".
std::string OthersClause(const analysis::CardExplanation& card);

nlohmann::ordered_json OthersJson(const analysis::CardExplanation& card);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_OTHERS_TEXT_H_
