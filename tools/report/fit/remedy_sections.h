// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_REMEDY_SECTIONS_H_
#define MEMTRACE_TOOLS_REPORT_FIT_REMEDY_SECTIONS_H_

#include <string>

#include "tools/fit/answer/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns "expandable segments + fused optimizer", which JSON has in English.
std::string NameOf(const fit::TriedRemedy& remedy);

// Returns "train.py:20, in step 1, optimizer.step(): 1.0 GiB requested, 0.2 GiB short".
std::string FailedText(const fit::FailedLine& failed);

// Returns "It would also fit with 5 % less." for a program that fits; empty if the margin was not
// tried.
std::string MarginText(const fit::Answer& answer);

// Compares the cost of a step with and without the changes, as counted; empty if no cost differs by
// 1 %.
std::string CostText(const fit::StepCost& before, const fit::StepCost& after);

Section RemedySection(const fit::Answer& answer);
// Lists the remedies that no run tried, each with the reason.
Section UntriedSection(const fit::Answer& answer);
Section RecommendedSection(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_REMEDY_SECTIONS_H_
