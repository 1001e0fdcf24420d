// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_LANGUAGE_OPTION_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_LANGUAGE_OPTION_H_

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// Declares `--lang TAG`: the language of what this program and the programs that it starts print.
void AddLanguageOption(CLI::App& app);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_LANGUAGE_OPTION_H_
