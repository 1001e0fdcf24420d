// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_HOLDER_LINES_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_HOLDER_LINES_H_

#include <string>
#include <vector>

#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Where a holding's largest part was made.
struct HolderLine {
  // The line a person would look at: the user's own, or, where that already names the site, the
  // innermost. Without a line, the phase ("in backward"), or empty.
  std::string line;
  // Where the user's line calls a library that is not torch: the innermost line of that library
  // ("peft/utils/other.py:156"). Else empty.
  std::string library;
};

// Returns one for each of `held.holdings`.
std::vector<HolderLine> HolderLines(const Breakdown& held, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_HOLDER_LINES_H_
