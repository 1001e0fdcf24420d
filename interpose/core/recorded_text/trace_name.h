// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_TRACE_NAME_H_
#define MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_TRACE_NAME_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace memtrace {

// Where this process writes its trace: MEMTRACE_OUTPUT if it is set, else
// memtrace-<script>.<pid>.trace in the current folder. Either may exist already, from another
// process or, in a folder that machines or containers share, from another with the same pid: the
// first to create it keeps it, the others take <name>.<pid>.
std::string ChooseTraceName(const std::map<std::string, std::string>& info);

// Facts every trace states: host, pid, ppid, started_unix_ns, memtrace, and environment.* for the
// variables that decide about memory. Others are never recorded: they may hold secrets. On a
// simulated card, card and simulated too, whatever language the program is in.
std::map<std::string, std::string> ProcessFacts();

// What MEMTRACE_KEEP says (256MiB, 1GiB, a number of bytes): 0 if it is not set or 0.
// kInvalidArgument says what is wrong with it; less than a trace can do with is TraceFile's to
// refuse.
absl::StatusOr<uint64_t> KeptBytes();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_TRACE_NAME_H_
