// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_SVG_NUMBER_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_SVG_NUMBER_H_

#include <cmath>
#include <string>

#include "tools/report/words/quantity.h"

namespace memtrace::report {

// Returns a coordinate of a drawing, to a hundredth of a unit.
inline std::string SvgNumber(double value) { return FormatHundredths(std::lround(value * 100)); }

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_SVG_NUMBER_H_
