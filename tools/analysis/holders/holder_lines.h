// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_HOLDER_LINES_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_HOLDER_LINES_H_

#include <string>
#include <vector>

#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// The line where a holding's largest part was made.
struct HolderLine {
  // The line that helps a person most: the user's own or, if that already names the site, the
  // innermost. Without a line, the phase ("in backward"), or empty.
  std::string line;
  // The innermost line of the library, other than torch, that the user's line calls
  // ("peft/utils/other.py:156"); empty if it calls none.
  std::string library;
};

// Returns a HolderLine for each of `held.holdings`.
std::vector<HolderLine> HolderLines(const Breakdown& held, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_HOLDER_LINES_H_
