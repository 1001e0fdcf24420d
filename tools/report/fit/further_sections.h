// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FURTHER_SECTIONS_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FURTHER_SECTIONS_H_

#include "tools/fit/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// What each process holds of which card; nothing if there is one.
Section ProcessSection(const fit::Answer& answer);

// How the need grows with an option, and the largest value that fits.
Section ScalingSection(const fit::Answer& answer, const fit::Scaling& scaling);

// Nothing unless it was asked.
Section SmallestCardSection(const fit::Answer& answer);

// What the figures rest on, and what was kept away from the user's folders.
Section LimitsSection(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FURTHER_SECTIONS_H_
