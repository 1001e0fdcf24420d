// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_JOBS_RANK_KINDS_H_
#define MEMTRACE_TOOLS_ANALYSIS_JOBS_RANK_KINDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/process_view.h"

namespace memtrace::analysis {

// Processes whose figures are equal to the byte.
struct RankKind {
  std::vector<size_t> processes;  // at least one, in their order
  // Ranks of the job that they stand for, with themselves; nothing if it is not known.
  std::optional<uint64_t> ranks;

  size_t first() const { return processes.front(); }
};

// Returns the share of the card that the process used at most; nothing if it is not known.
std::optional<double> UsedShare(const ProcessView& view);

// Groups the readable processes that have a rank; the fullest kind first: by the share of the card,
// then by the peak.
std::vector<RankKind> KindsOf(const std::vector<ProcessView>& views);

// Returns the ranks that all kinds stand for; nothing if it is not known of one, or if there are
// none.
std::optional<uint64_t> RanksOfAll(const std::vector<RankKind>& kinds);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_JOBS_RANK_KINDS_H_
