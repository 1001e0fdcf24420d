// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_SUMMARY_READER_H_
#define MEMTRACE_PROFILER_TRACE_READING_SUMMARY_READER_H_

#include <string>

#include "absl/status/statusor.h"

namespace memtrace::trace {

// The latest summary of a trace, JSON (docs/trace.md), read by two short reads however large the
// file is, also while it is written. Errors: as of TraceReader::Open; kNotFound too if the process
// was killed before it wrote one, or an older memtrace wrote the file: says which.
absl::StatusOr<std::string> ReadSummary(const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_SUMMARY_READER_H_
