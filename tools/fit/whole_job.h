// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_WHOLE_JOB_H_
#define MEMTRACE_TOOLS_FIT_WHOLE_JOB_H_

#include <vector>

#include "tools/fit/answer/answer.h"
#include "tools/fit/needs/gap.h"

namespace memtrace::fit {

// Adds the run that resumed from the checkpoint of `outcome`. If it failed by itself, that is a gap
// of `outcome`.
void AddResumed(Outcome resumed, Outcome& outcome);

// Returns the moments that were not seen after the job was run as `job`; `before` are those of the
// usual steps.
std::vector<Gap> GapsAfter(const Outcome& job, const std::vector<Gap>& before);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_WHOLE_JOB_H_
