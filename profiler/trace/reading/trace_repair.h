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
  // That certainly were there: by the gaps between sequence numbers, and one if the end is missing.
  uint64_t lost_events = 0;
};

// Writes what can be read of a trace as a new one, at `path`, which is replaced: its good blocks
// as they are, the fact "repaired" (info) with the words `statement`, and a Lost event behind the
// others if some are missing. A reader of the new trace finds the events, the names and the summary
// that one of the damaged trace finds.
//
// Errors: kUnavailable with the system's reason.
absl::StatusOr<Repair> RepairTrace(const TraceReader& damaged, std::string_view statement,
                                   const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_TRACE_REPAIR_H_
