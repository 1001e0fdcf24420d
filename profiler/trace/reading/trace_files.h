// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_TRACE_FILES_H_
#define MEMTRACE_PROFILER_TRACE_READING_TRACE_FILES_H_

#include <string>
#include <string_view>

// How a file is recognised as a trace, without reading it. All functions may be called from any
// thread.
namespace memtrace::trace {

// Returns "run.trace" for "run.trace.4711", the name of another process of the same run; any other
// name as it is.
std::string WithoutPid(const std::string& name);

// True for "run.trace" and "run.trace.4711", whatever the file holds.
bool IsTraceName(const std::string& name);

// True if the file begins as a trace does. False if it cannot be read.
bool BeginsAsTrace(const std::string& path);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_TRACE_FILES_H_
