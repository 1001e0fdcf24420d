// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_PROGRAM_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_PROGRAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// The words of the command line that a verb gets beside its flags.
struct Invocation {
  std::vector<std::string> after_dashes;  // words after `--`, for verbs that start a program
  bool has_dashes = false;
};

// Returns the command that a verb is to start: the words that CLI11 left over, then those after
// `--`. If the command began before the `--`, the `--` is the command's own.
std::vector<std::string> CommandOf(std::vector<std::string> remaining,
                                   const Invocation& invocation);

// A verb: declares its flags, and sets the exit code of its run.
struct Verb {
  std::string_view name;
  // Adds flags to `app` and a callback that stores the exit code in `exit_code`. All three
  // references outlive the parse.
  void (*define)(CLI::App& app, const Invocation& invocation, int& exit_code);
  bool starts_program = false;  // the words after its `--` are a command of its own
};

// Parses and runs; returns the exit code of the process.
int RunProgram(const std::vector<Verb>& verbs, std::vector<std::string> arguments);

// Prints a note for people on stderr, where everything but the result goes.
void Note(std::string_view sentence);

// Prints why there is no result and returns the exit code: kEnvironment if it could not be written
// (kUnavailable), else kUsage.
int RefuseResult(const absl::Status& status);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_PROGRAM_H_
