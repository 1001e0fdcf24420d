// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_TRIAL_OUTCOME_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_TRIAL_OUTCOME_H_

#include "tools/fit/answer/answer.h"
#include "tools/fit/trials/trial.h"

namespace memtrace::command {

// Reads the traces of a trial that has ended. A trace that cannot be read counts as none.
fit::Outcome ReadOutcome(const fit::TrialResult& result, const fit::Trial& trial);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_TRIAL_OUTCOME_H_
