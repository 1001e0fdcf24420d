// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PICTURE_REPORT_PICTURE_H_
#define MEMTRACE_TOOLS_REPORT_PICTURE_REPORT_PICTURE_H_

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/analysis/views/usage_curve.h"
#include "tools/report/picture/drawing.h"

namespace memtrace::report {

// Draws the first screen of a report and, below it, what the card held over the run, by role.
Drawing ReportPicture(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                      const analysis::UsageCurve& curve);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PICTURE_REPORT_PICTURE_H_
