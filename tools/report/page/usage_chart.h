// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/analysis/explained/card.h"
#include "tools/analysis/views/usage_curve.h"
#include "tools/report/page/card_name.h"

namespace memtrace::report {

// A card's curve and how to draw it.
struct UsageChart {
  const analysis::UsageCurve& curve;
  int32_t card = 0;
  std::optional<uint64_t> card_bytes;  // drawn as a line if known
  Side side = Side::kOnly;
  uint64_t least_top = 0;  // the scale reaches at least this high
};

UsageChart UsageChartOf(const analysis::CardExplanation& card, const analysis::UsageCurve& curve);

// Returns the top of a chart. Charts with the same top can be compared by eye.
uint64_t TopOf(const UsageChart& chart);

// Draws the bytes in use by role over the events of a run, stacked, as SVG without a script. The
// reserved bytes and the card are lines, steps are ticks, failed requests and the peak are marks.
// Empty without a column.
std::string DrawUsage(const UsageChart& chart);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_
