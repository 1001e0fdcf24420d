// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_SIBLING_TRACES_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_SIBLING_TRACES_H_

#include <string>
#include <vector>

namespace memtrace::command {

// The traces of a run's other processes: `run.trace` and `run.trace.<pid>` lie beside each other.
// Paths like `path`'s own, in order of their names, without `path`; empty if the folder cannot be
// read.
std::vector<std::string> SiblingTraces(const std::string& path);

// The traces and snapshots in a folder, in order of their names; paths. By their first bytes, and
// those that are named like one (`run.trace`, `run.trace.4711`) whatever is in them.
std::vector<std::string> TracesIn(const std::string& folder);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_SIBLING_TRACES_H_
