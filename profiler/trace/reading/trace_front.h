// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_TRACE_FRONT_H_
#define MEMTRACE_PROFILER_TRACE_READING_TRACE_FRONT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace memtrace::trace {

// The contents of a trace's first pages: all that is known of its process without its events.
struct TraceFront {
  std::map<std::string, std::string> info;  // as of TraceReader::info()
  absl::StatusOr<std::string> summary;      // as of ReadSummary
  uint64_t file_bytes = 0;
  uint64_t lost_events = 0;  // events that the process could not write
  bool is_closed = false;    // the process ended the file itself
  bool end_missing = false;  // the file is shorter than its process left it
};

// Reads the first pages, some 40 KiB, of a file of any size, also while it is written. Errors: as
// of TraceReader::Open; a missing summary is no error here. Thread rule: any thread.
absl::StatusOr<TraceFront> ReadTraceFront(const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_TRACE_FRONT_H_
