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

// The bytes of a trace of a version that we know, or why it is none (errors as of
// TraceReader::Open). Copied rather than mapped: a writer that closes its file cuts it, and a
// mapping of what it cut would raise SIGBUS.
absl::StatusOr<std::vector<uint8_t>> ReadTraceBytes(const std::string& path);

// Whether `bytes`, the beginning of a file, are that of a trace that we can read.
absl::Status CheckTraceHeader(const std::vector<uint8_t>& bytes, const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_FILE_BYTES_H_
