// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_SHELL_COMPLETION_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_SHELL_COMPLETION_H_

#include <string>

#include "tools/command/help/command_tree.h"

// Scripts that a shell reads to complete verbs, options, the values of options, and files. Each
// shell has a source of its own.
namespace memtrace::command {

std::string BashCompletion(const CommandFacts& program);
std::string ZshCompletion(const CommandFacts& program);
std::string FishCompletion(const CommandFacts& program);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_SHELL_COMPLETION_H_
