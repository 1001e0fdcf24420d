// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_COMPLETION_WORDS_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_COMPLETION_WORDS_H_

#include <string>
#include <vector>

#include "tools/command/help/command_tree.h"

// These functions are used by the completions of all shells.
namespace memtrace::command {

// Returns the text in single quotes, as all three shells read it.
std::string Quoted(const std::string& text);

// Returns the first statement of a description, which is all that a shell has room for.
std::string Brief(const std::string& description);

// Returns the names of an option with their dashes: "-o" and "--output".
std::vector<std::string> NamesOf(const OptionFacts& option);

// Returns the argument of a verb; null if it has none.
const OptionFacts* ArgumentOf(const CommandFacts& verb);

// True if a command follows the verb's options, as with `run`.
bool TakesCommand(const CommandFacts& verb);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_COMPLETION_WORDS_H_
