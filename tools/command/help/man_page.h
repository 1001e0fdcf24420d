// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_MAN_PAGE_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_MAN_PAGE_H_

#include <string>

#include "tools/command/help/command_tree.h"

namespace memtrace::command {

// The manual's page of a verb, or of the program if `command` is `program`, for man(1).
std::string ManPage(const CommandFacts& program, const CommandFacts& command);

// "memtrace-run": of a verb; "memtrace": of the program.
std::string ManPageName(const CommandFacts& program, const CommandFacts& command);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_MAN_PAGE_H_
