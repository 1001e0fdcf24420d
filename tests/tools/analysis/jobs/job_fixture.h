// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_ANALYSIS_JOBS_JOB_FIXTURE_H_
#define MEMTRACE_TESTS_TOOLS_ANALYSIS_JOBS_JOB_FIXTURE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "tools/analysis/process_view.h"

namespace memtrace::analysis {

// Returns a process of a job on a card of 80 GiB that ended well, with nothing in its peak.
inline ProcessView Rank(uint64_t rank, uint64_t world) {
  ProcessView view;
  view.file = "rank-" + std::to_string(rank) + ".trace";
  view.run.rank = std::to_string(rank);
  view.run.world_size = std::to_string(world);
  view.run.completeness.closed = true;
  view.card_bytes = 80_GiB;
  view.used = 0;
  return view;
}

inline void Hold(ProcessView& view, trace::Role role, const std::string& site, uint64_t bytes) {
  view.holders.push_back({.role = role, .site = site, .line = {}, .bytes = bytes});
  view.peak += bytes;
  view.allocated = view.reserved = view.peak;
  view.used = view.peak;
}

// Makes the rank a member of a group of ranks at equal distances.
inline void Join(ProcessView& view, const std::string& name, uint64_t size, uint64_t stride) {
  const uint64_t rank = *RankOf(view);
  const uint64_t at = rank / stride % size;
  view.run.groups.push_back(
      {.name = name, .size = size, .at = at, .first = rank - at * stride, .stride = stride});
}

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TESTS_TOOLS_ANALYSIS_JOBS_JOB_FIXTURE_H_
