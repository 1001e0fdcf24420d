// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_LAST_STEP_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_LAST_STEP_H_

#include "tools/analysis/explanation.h"
#include "tools/fit/needs/need.h"

namespace memtrace::fit {

// Sets CardNeed::below_peak of the cards, if what stays on one of them climbs: it may grow for long
// below a peak that an earlier step had. Reads the source again; `explanation` is of the same.
void NoteLastStep(const analysis::EventSource& source, const analysis::Explanation& explanation,
                  ProcessNeed& process);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_LAST_STEP_H_
