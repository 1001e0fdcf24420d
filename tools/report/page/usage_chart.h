// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/analysis/explanation.h"
#include "tools/analysis/views/usage_curve.h"

namespace memtrace::report {

// What of a card's curve is drawn.
struct UsageChart {
  const analysis::UsageCurve& curve;
  int32_t card = 0;
  std::optional<uint64_t> card_bytes;  // a line, if it is known
  std::string_view side = {};          // of two: "before"
  uint64_t least_top = 0;              // the scale shows that, too
};

UsageChart UsageChartOf(const analysis::CardExplanation& card, const analysis::UsageCurve& curve);

// The highest that a chart shows. Charts with the same can be compared by eye.
uint64_t TopOf(const UsageChart& chart);

// Live bytes by role over the events of a run, stacked, as SVG without a script: the mapped bytes
// and the card as lines, steps as ticks, failed requests and the peak as marks. Empty without a
// column.
std::string DrawUsage(const UsageChart& chart);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_
