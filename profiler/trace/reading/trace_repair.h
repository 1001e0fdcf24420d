// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_TRACE_REPAIR_H_
#define MEMTRACE_PROFILER_TRACE_READING_TRACE_REPAIR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "profiler/trace/reading/trace_reader.h"

namespace memtrace::trace {

struct Repair {
  uint64_t kept_events = 0;
  // Events that certainly existed: those in gaps of the sequence numbers, and one if the end is
  // missing.
  uint64_t lost_events = 0;
};

// Writes the readable part of a trace as a new trace, replacing the file at `path`: its good blocks
// unchanged, the fact "repaired" (info) with the text `statement`, and a Lost event after the
// others if some are missing. A reader of the new trace finds the same events, names and summary as
// a reader of the damaged one.
//
// Errors: kUnavailable with the system's reason.
absl::StatusOr<Repair> RepairTrace(const TraceReader& damaged, std::string_view statement,
                                   const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_TRACE_REPAIR_H_
