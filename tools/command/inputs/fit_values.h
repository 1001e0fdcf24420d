// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_FIT_VALUES_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_FIT_VALUES_H_

#include <string>
#include <vector>

#include "tools/fit/changes/candidates.h"
#include "tools/fit/trials/trial.h"

// The values of options of `memtrace fit`.
namespace memtrace::command {

// Parses the value of --steps, "3" or "2:8". Returns false if it is neither.
bool ReadSteps(const std::string& text, fit::Trial& trial);

// True if a word of the command has the option in braces.
bool Mentions(const std::vector<std::string>& command, const fit::Variation& variation);

// Parses the values of --vary or --scale. Returns false, after printing one sentence, if one of
// them is wrong or the command does not have it.
bool ReadVariations(const std::string& option, const std::vector<std::string>& texts,
                    const std::vector<std::string>& command,
                    std::vector<fit::Variation>& variations);

// Returns false, after printing one sentence, if a value is no number.
bool AreNumbers(const std::vector<fit::Variation>& scalings);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_FIT_VALUES_H_
