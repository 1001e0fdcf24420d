// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_TRACE_NAME_H_
#define MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_TRACE_NAME_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace memtrace {

// Returns where this process writes its trace: MEMTRACE_OUTPUT if set, else
// memtrace-<script>.<pid>.trace in the current folder. Either may exist already, from another
// process or, in a folder that machines or containers share, from one with the same pid: the first
// process to create it keeps it, others use <name>.<pid>.
std::string ChooseTraceName(const std::map<std::string, std::string>& info);

// Returns the facts that every trace states: host, pid, ppid, started_unix_ns, memtrace, and
// environment.* for the variables that affect memory. Other variables are never recorded, because
// they may hold secrets. On a simulated card also `card` and `simulated`, in programs of any
// language.
std::map<std::string, std::string> ProcessFacts();

// Returns the value of MEMTRACE_KEEP (256MiB, 1GiB, a number of bytes); 0 if it is not set or 0.
// kInvalidArgument tells what is wrong with it; TraceFile refuses a value that is too small for a
// trace.
absl::StatusOr<uint64_t> KeptBytes();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_TRACE_NAME_H_
