// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_GROWTH_SEARCH_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_GROWTH_SEARCH_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tools/analysis/kept/growth.h"
#include "tools/analysis/kept/keeper_finder.h"
#include "tools/analysis/kept/program_loops.h"
#include "tools/analysis/replayed/captures.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// Finds growth up to a moment, over whatever the program repeats: steps, the loops of its own
// lines, micro-batches, loops of libraries. Reports the first of these in which memory grows. Call
// Apply in the first reading, Watch before the second, and Found after it.
class GrowthSearch {
 public:
  GrowthSearch(const EventSource& source, const Timeline& timeline)
      : source_(source), timeline_(timeline), loops_(source) {}

  // Takes the event that `timeline` will take next.
  void Apply(const trace::Event& event);

  // Makes the second reading look at iterations that begin up to the event `moment`. `stack`: that
  // of a request that failed then, or 0. `annotations`: those of that time, or of the end.
  // `with_loops`: also looks at iterations other than steps.
  void Watch(uint64_t moment, trace::StackId stack, const Annotations& annotations, bool with_loops,
             Captures& captures, SiteNames& sites);

  // Returns the course of what grows; that of the steps if nothing grows by a significant part of
  // what is held.
  GrowthCourse Found(const GrowthMoment& moment, const LiveSet& live, const SiteNames& sites) const;

  // True if the request is made after a loop that called modules, at a line that calls none, so
  // that it is not part of one of the loop's iterations.
  bool is_after_loop() const { return is_after_loop_; }

 private:
  // Iterations of one kind, with what was seen of them.
  struct Candidate {
    IterationKind kind = IterationKind::kStep;
    std::string line;
    uint64_t iterations = 0;
    // A loop that calls no module may fill a list that has to exist, such as the tensors of a file.
    // It counts only if a variable is known to keep what grows.
    bool needs_keeper = false;
    bool is_over = false;
    GrowthWatch watch;
  };

  void WatchSteps(uint64_t moment, Captures& captures, SiteNames& sites);
  void WatchVisits(Candidate candidate, const std::vector<Visit>& visits, Captures& captures,
                   SiteNames& sites);
  GrowthCourse Course(const Candidate& candidate, const GrowthMoment& moment,
                      const SiteNames& sites) const;

  const EventSource& source_;
  const Timeline& timeline_;
  ProgramLoops loops_;
  bool is_after_loop_ = false;
  std::deque<Candidate> candidates_;  // in order of preference; looks refer to them
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_GROWTH_SEARCH_H_
