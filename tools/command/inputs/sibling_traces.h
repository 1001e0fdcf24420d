// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_SIBLING_TRACES_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_SIBLING_TRACES_H_

#include <string>
#include <vector>

namespace memtrace::command {

// Returns the traces of a run's other processes: `run.trace` and `run.trace.<pid>` lie beside each
// other. The paths look like `path`, sorted by name, without `path`; empty if the folder cannot be
// read.
std::vector<std::string> SiblingTraces(const std::string& path);

// Returns the paths of traces and snapshots in a folder, sorted by name: files with a trace's first
// bytes, and files named like one (`run.trace`, `run.trace.4711`) whatever they hold.
std::vector<std::string> TracesIn(const std::string& folder);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_SIBLING_TRACES_H_
