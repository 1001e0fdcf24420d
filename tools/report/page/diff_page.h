// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_DIFF_PAGE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_DIFF_PAGE_H_

#include <string>
#include <vector>

#include "tools/analysis/source/event_source.h"
#include "tools/analysis/views/run_detail.h"
#include "tools/analysis/views/usage_curve.h"
#include "tools/report/diff_document.h"

namespace memtrace::report {

// What the page of a comparison draws of a run. Valid without the trace.
struct RunPicture {
  std::vector<analysis::UsageCurve> curves;  // of the cards of the explanation
  std::string data;                          // Packed()
};

// `detail`, `source`: of the side. `after`: the other side, if it is of the same source; this is
// the picture of both, then.
RunPicture PictureOf(const DiffSide& side, const analysis::RunDetail& detail,
                     const analysis::EventSource& source, const DiffSide* after = nullptr);

// A comparison as one HTML file (docs/page.md), as Page() is of a report. `picture_after`: null
// where both sides are moments of one run, which is in the page once.
std::string DiffPage(const DiffSide& before, const DiffSide& after, const DiffStyle& style,
                     const RunPicture& picture_before, const RunPicture* picture_after);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_DIFF_PAGE_H_
