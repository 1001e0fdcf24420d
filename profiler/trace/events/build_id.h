// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_BUILD_ID_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_BUILD_ID_H_

#include <cstddef>
#include <string>

namespace memtrace::trace {

// Returns the linker's build-id, in hexadecimal, which identifies a native frame's file; "" if
// there is none.
std::string BuildIdInNotes(const char* notes, size_t bytes);  // of an ELF note segment
std::string BuildIdOfFile(const std::string& path);           // also "" if it cannot be read

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_BUILD_ID_H_
