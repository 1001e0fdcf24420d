// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_RANK_GROUPS_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_RANK_GROUPS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::analysis {

// A process group that a rank of a job is a member of.
struct RankGroup {
  std::string name;     // the dimension of its mesh, or its description; may be empty
  uint64_t size = 0;    // of its ranks, at least 2
  uint64_t at = 0;      // the rank's place in it, from 0
  uint64_t first = 0;   // its lowest rank of the job
  uint64_t stride = 0;  // the distance of its ranks; 0: they are not evenly spaced
};

// Parses the fact job.groups. Leaves out groups that are not well-formed or have one rank.
std::vector<RankGroup> ParseRankGroups(const std::string& text);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_RANK_GROUPS_H_
