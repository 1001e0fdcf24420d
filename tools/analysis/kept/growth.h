// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_GROWTH_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_GROWTH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/keeper.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// The fewest steps from which growth is known. The first two make states and caches once and for
// all, so counting begins with the third.
inline constexpr size_t kStepsForGrowth = 5;

// Returns the bytes gained a step, from what is in use as steps begin; nothing with fewer than
// kStepsForGrowth.
std::optional<int64_t> GrowthPerStep(const std::vector<uint64_t>& live_at_steps);

// A site with stacks whose bytes in use never fell over the latest iterations (steps, unless a
// course says otherwise) and rose in three of them or more. Other stacks of the site count only in
// `bytes`.
struct GrowingSite {
  std::string site;
  uint64_t bytes = 0;           // as the last step looked at began
  uint64_t gained = 0;          // since step `since` began, the jump of a first step left out
  uint64_t bytes_per_step = 0;  // gained / steps of each of its stacks, rounded down, summed
  uint64_t since = 0;
  uint64_t last = 0;         // number of the last step looked at
  std::string line;          // the user's line that made most, if any: "train.py:18"
  bool is_enlarged = false;  // its blocks became larger, not more: one is replaced by a larger one
  std::vector<trace::StackId> stacks;  // that grow
};

// The kinds of iterations that a program repeats.
enum class IterationKind : uint8_t { kStep, kMicroBatch, kLoop };

// The growth of a card's memory from one iteration to the next.
struct GrowthCourse {
  // Layers that a program calls or fills one by one look like iterations; there are fewer than
  // this.
  static constexpr uint64_t kMoreThanLayers = 50;

  IterationKind kind = IterationKind::kStep;
  std::string line;                 // of a loop: its first that allocates
  uint64_t iterations = 0;          // up to the moment
  int64_t bytes_per_iteration = 0;  // gained by the card as a whole
  std::vector<GrowingSite> sites;   // fastest first
  std::optional<Keeper> keeper;     // what keeps it, if that is known
  bool is_sure = false;             // no layers: steps, many iterations, or a known keeper
  bool is_over = false;             // the loop is
  bool is_past = false;             // the loop is over, or the program completed

  uint64_t gained() const;  // by all sites
  // True if the card as a whole grows, and a site of it by a significant part of what is held.
  bool is_worth_saying(uint64_t held) const;
  // True if the growth is also sure, a tenth of what is held or more, and so large that a request
  // that failed by `short_by` bytes would have been served without it.
  bool is_reason(uint64_t held, uint64_t short_by) const;
  // True if the passes of a loop within a step keep graphs, and a variable holds the latest end of
  // them.
  bool is_of_graphs_within_step() const {
    return !sites.empty() && kind != IterationKind::kStep && keeper &&
           keeper->kind == Keeper::Kind::kGraph;
  }
};

struct GrowthLevel {
  uint64_t step = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Looks at the cards as some iterations begin, and finds the sites that grow.
class GrowthWatch {
 public:
  // `of_loop`: leaves out caches of keys and values that are newer than the iteration before. They
  // grow with each token of a generation, which makes them anew; an older one is kept.
  explicit GrowthWatch(bool of_loop = false) : of_loop_(of_loop) {}

  // Returns which of `steps` step beginnings, counted from 0, to look at: the last few, and some
  // evenly spread before them, so that the cost does not grow with the length of the trace.
  static std::vector<size_t> StepsToSample(size_t steps);

  // Looks at a card as the iteration with number `step` begins.
  void See(uint64_t step, int32_t device, const LiveSet& live, SiteNames& sites);

  // Returns the sites that grow, fastest first. `source` has the stacks of what was seen.
  std::vector<GrowingSite> Growing(int32_t device, const SiteNames& sites,
                                   const EventSource& source) const;

  // Returns the bytes gained an iteration, like ::GrowthPerStep, from what was seen.
  int64_t PerIteration(int32_t device) const;

 private:
  using Place = std::pair<SiteId, trace::StackId>;
  struct Card {
    std::vector<uint64_t> steps;   // looked at
    std::vector<uint64_t> in_use;  // then
    uint64_t newest = 0;           // the sequence number of the newest block seen
    absl::flat_hash_map<Place, std::vector<GrowthLevel>> levels;
  };
  bool of_loop_;
  std::map<int32_t, Card> cards_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_GROWTH_H_
