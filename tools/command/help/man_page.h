// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_MAN_PAGE_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_MAN_PAGE_H_

#include <string>

#include "tools/command/help/command_tree.h"

namespace memtrace::command {

// Returns the man page, for man(1), of a verb, or of the program if `command` is `program`.
std::string ManPage(const CommandFacts& program, const CommandFacts& command);

// Returns "memtrace-run" for a verb, "memtrace" for the program.
std::string ManPageName(const CommandFacts& program, const CommandFacts& command);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_MAN_PAGE_H_
