// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_SUMMARY_TEXT_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_SUMMARY_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/recorder/accounts/live_table.h"
#include "profiler/recorder/accounts/run_account.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::recorder {

// The moment of a summary.
struct SummaryMoment {
  uint64_t events = 0;   // number of events so far
  uint64_t time_ns = 0;  // of the latest event, since the trace began
  uint64_t unix_ns = 0;  // now
  bool is_last = false;  // the process ends its trace
};

// Returns the run so far as JSON, schema "memtrace.summary/1" (docs/reference/trace.md), in at most
// `most_bytes`: the smallest owners are combined until it fits, then the last cards are left out.
// Looks at each live block, some 20 ns each.
std::string SummaryText(const LiveTable& live, const RunAccount& run,
                        const trace::TraceWriter& writer, const SummaryMoment& moment,
                        size_t most_bytes);

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_SUMMARY_TEXT_H_
