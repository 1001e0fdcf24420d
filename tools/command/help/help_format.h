// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_HELP_FORMAT_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_HELP_FORMAT_H_

#include <string>

#include "CLI/CLI.hpp"

namespace memtrace::command {

// Formats help as people read it: purpose and usage (an app's description), commands, flags by
// group, examples (its footer). Flags come from the parser, so help lists only those that exist.
class HelpFormat : public CLI::FormatterBase {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): CLI11's name
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_HELP_FORMAT_H_
