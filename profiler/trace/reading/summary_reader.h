// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_SUMMARY_READER_H_
#define MEMTRACE_PROFILER_TRACE_READING_SUMMARY_READER_H_

#include <string>

#include "absl/status/statusor.h"

namespace memtrace::trace {

// Returns the latest summary of a trace as JSON (docs/reference/trace.md), with two short reads for
// a file of any size, also while it is written. Errors: as of TraceReader::Open; also kNotFound if
// the process was killed before it wrote one, or if an older memtrace wrote the file. The message
// says which.
absl::StatusOr<std::string> ReadSummary(const std::string& path);
// Does the same with a file that is open for reading; `path` is for the message alone.
absl::StatusOr<std::string> ReadSummary(int fd, const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_SUMMARY_READER_H_
