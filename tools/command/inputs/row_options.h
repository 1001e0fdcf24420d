// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_ROW_OPTIONS_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_ROW_OPTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/report/sections/tree_level.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// Declares --by, the levels that tell rows apart. `what` begins its help; `levels` holds the
// default and outlives the parse.
void AddLevelsOption(CLI::App& app, const std::string& what,
                     std::vector<report::TreeLevel>& levels);

// Declares --rows, the most rows to print; 0 prints all. `rows` holds the default and outlives the
// parse.
void AddRowsOption(CLI::App& app, size_t& rows);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_ROW_OPTIONS_H_
