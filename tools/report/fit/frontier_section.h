// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FRONTIER_SECTION_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FRONTIER_SECTION_H_

#include <string>

#include "tools/fit/answer/answer.h"
#include "tools/fit/cheapest/frontier.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the runs that no other run beats in both memory and time; empty if there is no plan.
Section FrontierSection(const fit::Answer& answer);

// Returns "unchanged", or the names of the changes as a user reads them.
std::string PointName(const fit::FrontierPoint& point);

// Returns "fits, with 5 % left" and the like.
std::string PointVerdict(const fit::FrontierPoint& point, uint64_t margin_percent);

// Returns "1.19".
std::string TimeText(double time);

// Says what the cheapest plan takes and what proves it. Requires an answer with a plan.
std::string TextOfPlan(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FRONTIER_SECTION_H_
