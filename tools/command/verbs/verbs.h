// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_VERBS_VERBS_H_
#define MEMTRACE_TOOLS_COMMAND_VERBS_VERBS_H_

#include <vector>

#include "tools/command/program/program.h"

namespace memtrace::command {

// Each verb has one function, in the file of its name.
#define MEMTRACE_VERB(name, word, starts_program) \
  void Define##name(CLI::App& app, const Invocation& invocation, int& exit_code);
#include "tools/command/verbs/verbs.def"
#undef MEMTRACE_VERB

inline std::vector<Verb> AllVerbs() {
  return {
#define MEMTRACE_VERB(name, word, starts_program) {word, Define##name, starts_program},
#include "tools/command/verbs/verbs.def"
#undef MEMTRACE_VERB
  };
}

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_VERBS_VERBS_H_
