// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_PLACEMENT_SINK_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_PLACEMENT_SINK_H_

#include <cstdint>
#include <functional>

#include "tools/analysis/replay/policy.h"

namespace memtrace::replay {

// Receives the sequence number, card and place of each allocation of the trace that was served. May
// be empty.
using PlacementSink = std::function<void(uint64_t sequence, int32_t device, const Placed& placed)>;

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_PLACEMENT_SINK_H_
