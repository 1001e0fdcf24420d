// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_FILE_BYTES_H_
#define MEMTRACE_PROFILER_TRACE_READING_FILE_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memtrace::trace {

// Returns the bytes of a trace of a known version, or why it is not one (errors as of
// TraceReader::Open). They are copied rather than mapped: a writer that closes its file truncates
// it, and reading the removed part of a mapping would raise SIGBUS.
absl::StatusOr<std::vector<uint8_t>> ReadTraceBytes(const std::string& path);

// Returns OK if `bytes`, the beginning of a file, are those of a trace that we can read.
absl::Status CheckTraceHeader(const std::vector<uint8_t>& bytes, const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_FILE_BYTES_H_
