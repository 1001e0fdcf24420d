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

// The drawings of a run in a comparison. Valid without the trace.
struct RunPicture {
  std::vector<analysis::UsageCurve> curves;  // of the cards in the explanation
  std::string data;                          // Packed()
};

// `detail` and `source` belong to the side. `after` is the other side if it has the same source;
// the picture then serves both.
RunPicture PictureOf(const DiffSide& side, const analysis::RunDetail& detail,
                     const analysis::EventSource& source, const DiffSide* after = nullptr);

// Returns a comparison as one HTML file (docs/reference/page.md), as Page() does for a report.
// `picture_after` is null if both sides are moments of one run, which is then drawn once.
std::string DiffPage(const DiffSide& before, const DiffSide& after, const DiffStyle& style,
                     const RunPicture& picture_before, const RunPicture* picture_after);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_DIFF_PAGE_H_
