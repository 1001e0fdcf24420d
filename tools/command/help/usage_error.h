// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_USAGE_ERROR_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_USAGE_ERROR_H_

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class ParseError;
}  // namespace CLI

namespace memtrace::command {

// Returns what is wrong with the command line of the verb `app`, in the language in use, and ends
// with the command that lists the verb's options. Errors of CLI11 are told by their kind; sentences
// of ours are kept.
std::string UsageErrorText(const CLI::App& app, const CLI::ParseError& error);

// Returns the same for a word that `app` does not accept.
std::string UnexpectedWordText(const CLI::App& app, const std::string& word);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_USAGE_ERROR_H_
