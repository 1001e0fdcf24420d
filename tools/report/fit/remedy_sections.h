// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_REMEDY_SECTIONS_H_
#define MEMTRACE_TOOLS_REPORT_FIT_REMEDY_SECTIONS_H_

#include <string>

#include "tools/fit/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// "expandable segments + fused optimizer".
std::string NameOf(const fit::TriedRemedy& remedy);

// "train.py:20, step 1, optimizer: 1.0 GiB asked, short by 0.2 GiB".
std::string FailedText(const fit::FailedLine& failed);

// " It would also fit with 5 % less.", of a program that fits; empty if that was not asked.
std::string MarginText(const fit::Answer& answer);

// What the changes cost beside what the program does without them, as counted; empty if nothing
// differs by a hundredth.
std::string CostText(const fit::StepCost& before, const fit::StepCost& after);

Section RemedySection(const fit::Answer& answer);
Section RecommendedSection(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_REMEDY_SECTIONS_H_
