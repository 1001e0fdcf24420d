// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/deleted_models.h"

#include <string>
#include <utility>

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {

std::optional<DeletedModels> FindDeletedModels(const GrowthMoment& moment, const LiveSet& live,
                                               const EventSource& source) {
  const std::string key = trace::fact::kDeletedModels.Of(moment.device);
  const uint64_t bytes = AnnotatedNumber(moment.annotations, key).value_or(0);
  if (bytes == 0) return std::nullopt;
  std::optional<Keeper> keeper = FindKeeperOfGraphs(moment, live, source);
  if (!keeper) return std::nullopt;
  return DeletedModels{bytes, *std::move(keeper)};
}

}  // namespace memtrace::analysis
