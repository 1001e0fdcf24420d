// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_TRIAL_ENVIRONMENT_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_TRIAL_ENVIRONMENT_H_

#include <filesystem>

#include "tools/fit/trials/trial.h"
#include "tools/launch/launch_plan.h"

// The variables of the environment that direct the Python package in a trial
// (docs/design/fit.md). Those that do not apply to it are erased, because this process may have
// them: a program under `memtrace fit` may itself call `memtrace fit`.
namespace memtrace::fit {

// Sets what is the same for all processes of a trial: where it keeps files, and its own variables.
// Its writes are kept from the user's files by a layer if it has one, else by the Python package.
void SetPlace(const Trial& trial, const std::filesystem::path& folder, const FileKeeping& keeping,
              launch::Environment& environment);

// Sets what it runs for, with which changes, and its end, `trial.seconds` from now on.
void SetTask(const Trial& trial, launch::Environment& environment);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_TRIAL_ENVIRONMENT_H_
