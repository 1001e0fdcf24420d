// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_MOMENT_OPTION_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_MOMENT_OPTION_H_

#include <string>
#include <string_view>

#include "tools/analysis/replayed/moment_spec.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// The moment of a trace that a verb reports on.
struct MomentOption {
  analysis::MomentSpec spec;
};

inline constexpr std::string_view kMomentHelp =
    "Moment to show: oom, oom:2, peak, peak:5 (the peak of step 5), step:5 (the start of step 5), "
    "event:1234, time:1.5s or end (default: the last oom, else peak)";

// Parses an option's value. Throws CLI::ValidationError with a sentence.
analysis::MomentSpec ParseMomentOption(const std::string& text);

// Declares --at and --oom, which exclude each other. `option` outlives the parse.
void AddMomentOptions(CLI::App& app, MomentOption& option);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_MOMENT_OPTION_H_
