// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TIE_RULE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TIE_RULE_H_

#include "tools/analysis/replay/recorded_run.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::replay {

// Sets `run.settings.oldest_segment_first` for a trace that does not say which torch recorded it (a
// torch snapshot): true if more blocks lie where that rule puts them than where the other one does.
// Reads the events twice, or not at all if torch's own allocator was not recorded.
void LearnTieRule(const analysis::EventSource& source, RecordedRun& run);

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TIE_RULE_H_
