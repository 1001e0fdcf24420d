// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_GROWTH_H_
#define MEMTRACE_TOOLS_ANALYSIS_GROWTH_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/event_source.h"
#include "tools/analysis/live_set.h"
#include "tools/analysis/site_names.h"

namespace memtrace::analysis {

// Bytes gained a step by what is in use as steps begin. The first two steps make states and caches
// once and for all, so it counts from the beginning of the third; 0 with fewer than five.
int64_t GrowthPerStep(const std::vector<uint64_t>& live_at_steps);

// A site with stacks whose bytes in use never fell over the latest steps, and rose in three of them
// or more. What other stacks of the site have is no part of the figures but `bytes`.
struct GrowingSite {
  std::string site;
  uint64_t bytes = 0;           // as the last step looked at began
  uint64_t gained = 0;          // since step `since` began, the jump of a first step left out
  uint64_t bytes_per_step = 0;  // of each of its stacks gained / steps, rounded down
  uint64_t since = 0;
  uint64_t last = 0;  // number of the last step looked at
  std::string line;   // the user's own that made most of it, of what has one: "train.py:18"
};

struct GrowthLevel {
  uint64_t step = 0;
  uint64_t bytes = 0;
};

// Looks at some steps of a card as they begin, and finds the sites that grow.
class GrowthWatch {
 public:
  // Which of `steps` step beginnings, counted from 0, are looked at: the last few, and some evenly
  // before them, so that the cost does not follow the length of the trace.
  static std::vector<size_t> StepsToSee(size_t steps);

  // As a step begins; `step` is its number.
  void See(uint64_t step, int32_t device, const LiveSet& live, SiteNames& sites);

  // Fastest first. `source` has the stacks of what was seen.
  std::vector<GrowingSite> Growing(int32_t device, const SiteNames& sites,
                                   const EventSource& source) const;

 private:
  struct Card {
    std::vector<uint64_t> steps;  // looked at
    std::map<std::pair<SiteId, trace::StackId>, std::vector<GrowthLevel>> levels;
  };
  std::map<int32_t, Card> cards_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_GROWTH_H_
