// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_FRONTIER_PICTURE_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_FRONTIER_PICTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/fit/cheapest/frontier.h"

namespace memtrace::report {

// The runs that are drawn, and the card that they are drawn for.
struct FrontierPicture {
  std::vector<fit::FrontierPoint> points;
  uint64_t card_bytes = 0;
  uint64_t margin_percent = 0;
};

// Draws the memory that each run needs against the time of its step, as SVG without a script: a
// line joins those that no other run beats, vertical lines are the card and the card without the
// margin. Returns "" for fewer than two points.
std::string DrawFrontier(const FrontierPicture& picture);

// Returns the places and the words of the points, by memory, as JSON for the page's script
// (docs/reference/page.md, "The answer of fit").
std::string FrontierData(const FrontierPicture& picture);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_FRONTIER_PICTURE_H_
