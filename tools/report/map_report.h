// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_MAP_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_MAP_REPORT_H_

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explained/layout.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the section with a strip for each segment of the card, and a key to its signs; empty
// without a map.
Section MapSection(const analysis::ExplainedLayout& layout);

// Returns `segments`, with every block and hole. Requires a map in the layout.
nlohmann::ordered_json SegmentsJson(const analysis::ExplainedLayout& layout);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_MAP_REPORT_H_
