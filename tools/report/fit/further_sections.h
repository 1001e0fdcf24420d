// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FURTHER_SECTIONS_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FURTHER_SECTIONS_H_

#include <string>

#include "tools/fit/answer/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Names the larger parts of a need, for a row: "parameters 14.20 GiB, activations 3.10 GiB".
std::string LargestParts(const fit::CardNeed& need);

// Returns the memory that each process holds on each card; nothing if there is one process, or if
// the processes are ranks of a job.
Section ProcessSection(const fit::Answer& answer);

// Returns how the need grows with an option, and the largest value that fits.
Section ScalingSection(const fit::Answer& answer, const fit::Scaling& scaling);

// Returns nothing unless the smallest card was requested.
Section SmallestCardSection(const fit::Answer& answer);

// Says what the figures are based on, and what was kept away from the user's folders.
Section LimitsSection(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FURTHER_SECTIONS_H_
