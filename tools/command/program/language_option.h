// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_LANGUAGE_OPTION_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_LANGUAGE_OPTION_H_

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// Declares `--lang TAG`: the language of what this program and the programs that it starts print.
void AddLanguageOption(CLI::App& app);

// Uses the language that the option names among these words, for an error about the words
// themselves. Does nothing if there is no such option or language.
void UseLanguageIn(const std::vector<std::string>& arguments);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_LANGUAGE_OPTION_H_
