// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_REPLAYED_REMEDIES_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_REPLAYED_REMEDIES_H_

#include "tools/analysis/explanation.h"
#include "tools/analysis/replay/recorded_run.h"
#include "tools/command/inputs/trace_input.h"

namespace memtrace::command {

// Returns the allocator and settings that the trace was recorded with.
replay::RecordedRun RecordedRunOf(const TraceInput& input);

// If the card was fragmented and not full, adds other allocators as remedies, by replaying the
// trace with them (docs/design/replay.md). Reads the trace several times.
void AddReplayedRemedies(const TraceInput& input, analysis::Explanation& explanation);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_REPLAYED_REMEDIES_H_
