// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_MOMENT_SECTIONS_H_
#define MEMTRACE_TOOLS_REPORT_FIT_MOMENT_SECTIONS_H_

#include <string>

#include "tools/fit/answer/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the table of the moments of the whole job; an empty section if it was not run.
Section MomentSection(const fit::Answer& answer);

// True if the whole job decides: its usual steps fit, and it came to its end or ran out.
bool IsDecidedByWholeJob(const fit::Answer& answer);

// Returns "The moment that limits it is an evaluation."
std::string LimitText(const fit::MomentNeed& limited_by);

// Returns the beginning of the verdict, such as "DOES NOT FIT: an evaluation runs out at
// train.py:61." or "FITS. Its whole job was run with fewer steps: ...". Requires
// IsDecidedByWholeJob.
std::string WholeJobText(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_MOMENT_SECTIONS_H_
