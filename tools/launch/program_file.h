// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_PROGRAM_FILE_H_
#define MEMTRACE_TOOLS_LAUNCH_PROGRAM_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memtrace::launch {

// Returns the file of the program that runs; empty if the system does not tell.
std::string OwnProgram();

// Finds the file that a shell would start for `name`. Returns kNotFound, or kPermissionDenied if it
// is not executable, with a sentence.
absl::StatusOr<std::string> FindProgram(const std::string& name);

// Returns "; write python NAME ..." if `name` is the name of a Python script, which needs an
// interpreter unless it is executable and names one; else "".
std::string HintForScript(const std::string& name);

// True if the file's name, or its target's, is one of python, python3, python3.11, pypy3.
bool IsPythonInterpreter(const std::string& path);

// True if it is an ELF file, as opposed to a script with an interpreter.
bool IsElfFile(const std::string& path);

// Returns the script of `python [options] SCRIPT ...`; nothing for -c, -m, - or no script.
// `command` begins with the interpreter.
std::optional<std::string> PythonScript(const std::vector<std::string>& command);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_PROGRAM_FILE_H_
