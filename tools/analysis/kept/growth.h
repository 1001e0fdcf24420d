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

// Bytes gained a step by what is in use as steps begin. The first two steps make states and caches
// once and for all, so it counts from the beginning of the third; 0 with fewer than five.
int64_t GrowthPerStep(const std::vector<uint64_t>& live_at_steps);

// A site with stacks whose bytes in use never fell over the latest iterations (steps, unless a
// course says otherwise), and rose in three of them or more. What other stacks of the site have is
// no part of the figures but `bytes`.
struct GrowingSite {
  std::string site;
  uint64_t bytes = 0;           // as the last step looked at began
  uint64_t gained = 0;          // since step `since` began, the jump of a first step left out
  uint64_t bytes_per_step = 0;  // of each of its stacks gained / steps, rounded down
  uint64_t since = 0;
  uint64_t last = 0;         // number of the last step looked at
  std::string line;          // the user's own that made most of it, of what has one: "train.py:18"
  bool is_enlarged = false;  // its blocks became larger, not more: one is replaced by a larger one
  std::vector<trace::StackId> stacks;  // that grow
};

// What a program does again and again.
enum class IterationKind : uint8_t { kStep, kMicroBatch, kLoop };

// How the memory of a card grows from one iteration to the next.
struct GrowthCourse {
  // Layers that a program calls or fills one by one look like iterations; there are not so many.
  static constexpr uint64_t kMoreThanLayers = 50;

  IterationKind kind = IterationKind::kStep;
  std::string line;                 // of a loop: its first that allocates
  uint64_t iterations = 0;          // up to the moment
  int64_t bytes_per_iteration = 0;  // gained by the card as a whole
  std::vector<GrowingSite> sites;   // fastest first
  std::optional<Keeper> keeper;     // what keeps it, if that is known
  bool is_sure = false;             // no layers: steps, many iterations, or a known keeper
  bool is_past = false;             // the loop is over, or the program completed

  uint64_t gained() const;  // by all sites
  // The card as a whole grows, and a site of it by a part of what is held that is worth a word.
  bool is_worth_saying(uint64_t held) const;
  // ... and surely, and by so much that a request that failed by `short_by` bytes would have been
  // served without it.
  bool is_reason(uint64_t held, uint64_t short_by) const;
  // The passes of a loop within a step keep graphs, of which a variable has the latest end.
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

// Looks at some iterations on the cards as they begin, and finds the sites that grow.
class GrowthWatch {
 public:
  // `of_loop`: caches of keys and values that are newer than the iteration before are left out.
  // They grow with each token of a generation, which makes them anew; one that is older is kept.
  explicit GrowthWatch(bool of_loop = false) : of_loop_(of_loop) {}

  // Which of `steps` step beginnings, counted from 0, are looked at: the last few, and some evenly
  // before them, so that the cost does not follow the length of the trace.
  static std::vector<size_t> StepsToSee(size_t steps);

  // As an iteration begins; `step` is its number.
  void See(uint64_t step, int32_t device, const LiveSet& live, SiteNames& sites);

  // Fastest first. `source` has the stacks of what was seen.
  std::vector<GrowingSite> Growing(int32_t device, const SiteNames& sites,
                                   const EventSource& source) const;

  // As ::GrowthPerStep, of what was seen.
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
