// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_PROGRAM_ARGUMENTS_H_
#define MEMTRACE_TOOLS_LAUNCH_PROGRAM_ARGUMENTS_H_

#include <string>
#include <vector>

#include "tools/launch/launch_plan.h"

namespace memtrace::launch {

// The words and the environment of a program in the form that execve() and posix_spawn() take:
// arrays of pointers that end in a null pointer.
class ProgramArguments {
 public:
  ProgramArguments(std::vector<std::string> words, const Environment& environment);
  ProgramArguments(const ProgramArguments&) = delete;  // the pointers lead into this object
  ProgramArguments& operator=(const ProgramArguments&) = delete;

  // Valid as long as this object.
  char* const* argv() const { return word_pointers_.data(); }
  char* const* envp() const { return setting_pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<std::string> settings_;  // NAME=VALUE
  std::vector<char*> word_pointers_;
  std::vector<char*> setting_pointers_;
};

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_PROGRAM_ARGUMENTS_H_
