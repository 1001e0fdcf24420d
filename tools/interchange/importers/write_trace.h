// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_WRITE_TRACE_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_WRITE_TRACE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::interchange {

// Writes the events of any source as a trace of memtrace, at `path`, which must not exist. Sequence
// numbers are counted anew; a time that descends is raised to the one before. Errors: those of
// TraceWriter.
absl::Status WriteTrace(const analysis::EventSource& source,
                        const std::map<std::string, std::string>& info, const std::string& path);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_WRITE_TRACE_H_
