// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_PACKAGE_PROGRAM_H_
#define MEMTRACE_TOOLS_LAUNCH_PACKAGE_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::launch {

// Returns the interpreter that this program is installed for, else the usual one, by name.
std::string PythonInterpreter();

// Returns the plan that runs `python -m MODULE ARGUMENTS` with the installed package on its path,
// and does not record it. Returns kFailedPrecondition if the package is missing, kNotFound if there
// is no Python.
absl::StatusOr<LaunchPlan> PlanPackageProgram(const std::string& module,
                                              const std::vector<std::string>& arguments);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_PACKAGE_PROGRAM_H_
