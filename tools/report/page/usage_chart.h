// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/analysis/usage_curve.h"

namespace memtrace::report {

// What of a card's curve is drawn.
struct UsageChart {
  const analysis::UsageCurve& curve;
  int32_t card = 0;
  std::optional<uint64_t> card_bytes;  // a line, if it is known
};

// Live bytes by role over the events of a run, stacked, as SVG without a script: the mapped bytes
// and the card as lines, steps as ticks, failed requests and the peak as marks. Empty without a
// column.
std::string DrawUsage(const UsageChart& chart);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_USAGE_CHART_H_
