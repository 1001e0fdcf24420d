// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_BREAKDOWN_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_BREAKDOWN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/evidence.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

struct Share {
  std::string name;
  uint64_t bytes = 0;
  KnownBytes known;  // bytes whose role is known
};

// The bytes of one role at one site, of one owner (a tag of the program's) and of one model if
// several have that site. A block whose parts differ counts in each of their rows.
struct Holding {
  trace::Role role = trace::Role::kUnknown;
  std::string site;
  uint32_t model = 0;  // of ModelNumbers
  std::string owner;   // empty without a tag
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  KnownBytes known;          // bytes whose role is known
  Position since;            // birth of the oldest block
  trace::StackId stack = 0;  // of the largest part
  uint64_t largest = 0;
};

// Requested bytes at one instant, seen three ways; each way sums to `bytes`. Largest first.
struct Breakdown {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<Share> by_role;
  std::vector<Share> by_owner;
  std::vector<Share> by_site;
  std::vector<Holding> holdings;  // role x site x model x owner
};

// Returns the bytes of the workspaces whose sizes the simulated card assumes.
uint64_t AssumedBytes(const Breakdown& breakdown);

// Returns all bytes of the role, stated or inferred.
uint64_t BytesOfRole(const Breakdown& breakdown, trace::Role role);

// Breaks down the blocks that do not wait for a stream; with `waiting`, also those that do.
Breakdown BreakDown(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                    const EventSource& source, SiteNames& sites, bool waiting = false);

// Returns the same without owners, sites and holdings, which need the stacks' names.
Breakdown BreakDownByRole(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                          const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_BREAKDOWN_H_
