// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_DELETED_MODELS_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_DELETED_MODELS_H_

#include <cstdint>
#include <optional>

#include "tools/analysis/kept/keeper_finder.h"

namespace memtrace::analysis {

// Parameters whose models the program deleted, and the variable that holds them by graphs.
struct DeletedModels {
  uint64_t bytes = 0;
  Keeper keeper;
};

// Returns nothing if there are no such parameters, or if no variable has tensors with graphs,
// because what holds them is then not known.
std::optional<DeletedModels> FindDeletedModels(const GrowthMoment& moment, const LiveSet& live,
                                               const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_DELETED_MODELS_H_
