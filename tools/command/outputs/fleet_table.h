// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_FLEET_TABLE_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_FLEET_TABLE_H_

#include <string>
#include <vector>

namespace memtrace::command {

// Writes the traces of a folder as the table `path` (docs/fleets.md). Files that cannot be read are
// rows of the table, and sentences on stderr. Returns the exit code: kPartial if one of them has a
// problem, kUnreadable if all have or if there is none, kUsage if the file may not be written,
// kEnvironment if DuckDB is missing or the file cannot be written.
int WriteFleet(const std::string& folder, const std::string& path, bool overwrite);

// Prints the rows as lines of JSON, without DuckDB. Returns the exit code, as above.
int PrintFleet(const std::string& folder);

// Runs the package's program for fleets (memtrace._fleet), which owns the terminal meanwhile.
// Returns its exit code.
int RunFleetProgram(const std::vector<std::string>& arguments);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_FLEET_TABLE_H_
