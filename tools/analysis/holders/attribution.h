// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_ATTRIBUTION_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_ATTRIBUTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/evidence.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// Requested bytes in use at a moment for which all that is known is the same.
struct AttributedBytes {
  trace::Role role = trace::Role::kUnknown;
  Evidence evidence = Evidence::kNone;  // for the role
  std::string owner;                    // "(none)"
  std::string module;  // path of the parameter, else of the module; layer numbers are '*'
  std::string site;    // the user's line, else the innermost
  uint64_t step = 0;   // of birth; 0: before the first
  uint64_t bytes = 0;
  uint64_t blocks = 0;  // a block whose parts differ counts once, in its largest
};

// Attributes the blocks that do not wait for a stream. The rows sum to what is in use; largest
// first.
std::vector<AttributedBytes> Attribute(const std::vector<CapturedBlock>& captured,
                                       const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_ATTRIBUTION_H_
