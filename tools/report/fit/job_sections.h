// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_JOB_SECTIONS_H_
#define MEMTRACE_TOOLS_REPORT_FIT_JOB_SECTIONS_H_

#include <string>

#include "tools/fit/answer/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns "FITS.", "FITS IN THE 3 STEPS SEEN." and the like; for a job of which not each kind of
// rank is known to have run, it says so.
std::string FitsWords(const fit::Answer& answer, const fit::Outlook& seen);

// Says which ranks of the job ran, for how many they stand, and which kinds did not run. Returns ""
// for a program that is no such job.
std::string JobText(const fit::Answer& answer);

// Returns the table of the ranks that ran; empty for a program that is no job.
Section RankSection(const fit::Answer& answer);

// Says what is assumed of ranks that did not run; "" for a program that is no job.
std::string VirtualRanksText(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_JOB_SECTIONS_H_
