// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_CHANGES_OPTION_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_CHANGES_OPTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/launch_plan.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// Options that apply changes to the program that runs.
struct ChangesOption {
  std::string with;          // a file that `fit --save-plan` wrote, or names; empty: none
  bool what_can_be = false;  // go on if a change cannot be applied
};

// Declares --with and --with-what-can-be.
void DefineChanges(CLI::App& app, ChangesOption& option);

// Adds the changes to the request and the environment, with the allocator and the settings of the
// trial unless the user chose them. Returns sentences that say so. Returns kInvalidArgument with a
// sentence if the changes are not known or cannot be applied to this command or these cards.
absl::StatusOr<std::vector<std::string>> AddChanges(const ChangesOption& option, bool has_allocator,
                                                    launch::LaunchRequest& request,
                                                    launch::Environment& environment);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_CHANGES_OPTION_H_
