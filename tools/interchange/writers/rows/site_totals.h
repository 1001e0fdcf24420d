// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_SITE_TOTALS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_SITE_TOTALS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// The unit that flame graphs add up: the same stack on the same card for the same purpose.
struct Site {
  int32_t device = 0;
  trace::StackId stack = 0;
  trace::Role role = trace::Role::kUnknown;
  analysis::Evidence evidence = analysis::Evidence::kNone;
  trace::StringId owner = 0;
  trace::StringId module = 0;
  trace::Phase phase = trace::Phase::kOther;  // of the allocation

  auto operator<=>(const Site&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const Site& site) {
    return H::combine(std::move(state), site.device, site.stack, site.role, site.evidence,
                      site.owner, site.module, site.phase);
  }
};

// Requested bytes and numbers of blocks. A block whose parts differ counts as a block only for the
// largest of them.
struct SiteTotal {
  uint64_t peak_bytes = 0;  // alive at its card's peak
  uint64_t peak_blocks = 0;
  uint64_t all_bytes = 0;  // over the whole trace
  uint64_t all_blocks = 0;
};

// Returns the totals in order of the sites. Reads the trace once.
std::vector<std::pair<Site, SiteTotal>> SiteTotals(const ExportedRun& run);

// Returns the frames, outermost first. Autograd's threads have no stack: one frame then says the
// phase.
std::vector<trace::Frame> CallPath(const Site& site, const ExportedRun& run);

// Returns text such as "step (train.py:31)".
std::string FrameText(const trace::Frame& frame);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_SITE_TOTALS_H_
