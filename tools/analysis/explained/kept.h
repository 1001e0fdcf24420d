// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_KEPT_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_KEPT_H_

#include <optional>
#include <vector>

#include "tools/analysis/kept/dead_cycles.h"
#include "tools/analysis/kept/deleted_models.h"
#include "tools/analysis/kept/failed_attempts.h"
#include "tools/analysis/kept/growth.h"
#include "tools/analysis/kept/kept_for_backward.h"
#include "tools/analysis/kept/kept_results.h"
#include "tools/analysis/kept/summed_passes.h"
#include "tools/analysis/kept/unread_names.h"
#include "tools/analysis/kept/untrained_passes.h"

namespace memtrace::analysis {

// Memory that stays on the card of the verdict although nothing, or only a mistake, needs it. Each
// member is a part of what is held at the moment that is explained.
struct ExplainedKept {
  GrowthCourse growth;  // up to then
  std::optional<KeptForBackward> kept_for_backward;
  std::optional<UntrainedPasses> untrained_passes;
  std::optional<SummedPasses> summed_passes;      // at a failure
  std::optional<FailedAttempts> failed_attempts;  // at a failure
  std::optional<DeadCycles> dead_cycles;          // at a failure
  std::optional<DeletedModels> deleted_models;
  std::optional<KeptResults> results;  // at a failure or a peak
  std::vector<UnreadValue> unread;     // at a failure or a peak
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_KEPT_H_
