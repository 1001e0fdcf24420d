// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_IDLE_BLOCKS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_IDLE_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/activity_watch.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// Blocks of one site.
struct IdleSite {
  trace::Role role = trace::Role::kUnknown;  // inferred
  std::string site;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t last_step = 0;  // in which the latest of them was written
  uint64_t idle_ns = 0;    // since then
};

// Bytes that, at a moment, had not been written since an earlier step. Inferred: a block is taken
// to be written when it is allocated and by whatever its thread launches from then to its next
// allocation. Reads of a block are not seen, so bytes whose role a hook stated (parameters,
// gradients and states exist to be read) do not count here.
struct IdleBlocks {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t idle_ns = 0;         // of all of them, at least
  uint64_t unknown_bytes = 0;   // CUPTI did not record all the time since they were written
  std::vector<IdleSite> sites;  // largest first
};

// Returns nothing if CUPTI never recorded. Reads the source once more.
std::optional<IdleBlocks> FindIdleBlocks(const std::vector<CapturedBlock>& captured,
                                         uint64_t moment_ns, const LiveSet& live,
                                         const ActivityWatch& watch, const EventSource& source,
                                         SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_IDLE_BLOCKS_H_
