// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_SCRATCH_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_SCRATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// Blocks of one site that existed at a moment and were gone when the phase was over: memory that an
// operation needs only while it runs.
struct Scratch {
  std::string site;
  uint64_t bytes = 0;  // requested, at the moment
  uint64_t blocks = 0;
  uint64_t lifetime_ns = 0;  // from the first birth to the last death
  // Bytes in use on the card when the last of them was gone, minus those before the first of them:
  // what the operation, and whatever else ran meanwhile, left behind. 0 if more was freed meanwhile
  // than stayed.
  uint64_t stays = 0;
};

// Returns rows, largest first. `captured`: the blocks of one card.
std::vector<Scratch> FindScratch(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                                 SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_SCRATCH_H_
