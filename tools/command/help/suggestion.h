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

// Returns " (did you mean 'report'?)", or nothing if no candidate is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

// Returns a sentence about a word that `app` does not accept.
std::string UnexpectedWord(const CLI::App& app, const std::string& word);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_SUGGESTION_H_
