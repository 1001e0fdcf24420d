// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_SUGGESTED_VALUES_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_SUGGESTED_VALUES_H_

#include <string>

#include "CLI/CLI.hpp"

namespace memtrace::command {

// A check that lets everything pass: completions and man pages tell these values ("a,b,c") of an
// option whose own refusal says more than CLI::IsMember's, or that takes others, too.
inline CLI::Validator SuggestedValues(const std::string& joined) {
  return CLI::Validator([](std::string&) { return std::string(); }, "{" + joined + "}");
}

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_SUGGESTED_VALUES_H_
