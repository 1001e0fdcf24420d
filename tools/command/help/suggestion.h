// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_SUGGESTION_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_SUGGESTION_H_

#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// Returns the candidate that is nearest to the word; empty if none is near.
std::string NearestOf(std::string_view word, const std::vector<std::string>& candidates);

// Returns what is wrong with a word that `app` does not accept, in the language in use.
std::string UnexpectedWord(const CLI::App& app, const std::string& word);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_SUGGESTION_H_
