// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_NUMBER_CHECK_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_NUMBER_CHECK_H_

#include <sys/types.h>

#include <algorithm>
#include <string>

#include "CLI/CLI.hpp"
#include "messages/message.h"

namespace memtrace::command {

// Checks counts and process numbers. CLI::PositiveNumber rejects the same, but its message prints
// the largest double in 309 digits.
inline CLI::Validator CountFromOne() {
  return {[](const std::string& text) -> std::string {
            const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
            const bool is_count = !text.empty() && text.size() < 10 &&
                                  std::all_of(text.begin(), text.end(), is_digit) &&
                                  text.find_first_not_of('0') != std::string::npos;
            return is_count ? "" : Message("$0 is not a whole number of at least 1", text);
          },
          ""};
}

// Declares the process that a verb is about, as its only argument.
inline void AddProcess(CLI::App& app, pid_t& pid) {
  app.add_option("PID", pid, "Process that memtrace records")
      ->required()
      ->check(CountFromOne())
      ->group("Input");
}

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_NUMBER_CHECK_H_
