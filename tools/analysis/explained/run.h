// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_RUN_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_RUN_H_

#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Facts about the run as a whole that the trace states.
struct ExplainedRun {
  Annotations annotations;
  EventCounts counts;
  ActivityWatch activities;      // as recorded by CUPTI
  bool is_one_of_ranks = false;  // EventSource::is_one_of_ranks
  bool is_partial = false;       // EventSource::is_partial
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_RUN_H_
