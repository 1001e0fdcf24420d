// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_MAP_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_MAP_REPORT_H_

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explanation.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// The section with a strip for each segment of the card, and what its signs mean; empty without a
// map.
Section MapSection(const analysis::Explanation& explanation);

// `segments`, with every block and hole. Of an explanation that has a map.
nlohmann::ordered_json SegmentsJson(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_MAP_REPORT_H_
