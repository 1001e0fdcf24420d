// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/memory_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace memtrace::analysis {
namespace {

using Blocks = std::vector<RequestedBlock>;

// How long the blocks of one period live, in requests: the next so many are made before they are
// free. kNever for those that no period knows the end of.
class Lifetimes {
 public:
  Lifetimes(const Blocks& blocks, const Repetition& repetition)
      : period_(repetition.period), of_(period_, 0) {
    std::vector<size_t> ended(period_, 0);
    std::vector<size_t> endless(period_, 0);
    for (size_t i = repetition.begin; i < repetition.end; ++i) {
      const size_t place = i % period_;
      const size_t soon = i + Repetition::kMostPeriods * period_;
      if (blocks[i].death <= soon) {
        of_[place] = std::max(of_[place], blocks[i].death - i - 1);
        ++ended[place];
      } else if (soon <= blocks.size()) {
        ++endless[place];  // else the run ended before one could know
      }
    }
    for (size_t place = 0; place < period_; ++place) {
      const bool is_known = ended[place] > 0 && ended[place] >= endless[place];
      if (!is_known) of_[place] = RequestedBlock::kNever;
    }
  }

  size_t Of(size_t request) const { return of_[request % period_]; }

  // Periods until no block is alive when its successor is born.
  size_t PeriodsToUnroll() const {
    size_t most = 0;
    for (const size_t life : of_) {
      if (life != RequestedBlock::kNever) most = std::max(most, life);
    }
    return std::min(Repetition::kMostPeriods, most / period_ + 1);
  }

 private:
  size_t period_;
  std::vector<size_t> of_;  // by request modulo the period
};

// The request in [begin, begin + period) before which the fewest bytes of steps are alive.
size_t CheapestCut(const Blocks& blocks, const Repetition& repetition, const Lifetimes& lifetimes) {
  const size_t period = repetition.period;
  // By how much what is alive changes before each request, in a steady state.
  std::vector<int64_t> changes(period, 0);
  for (size_t i = repetition.begin; i < repetition.begin + period; ++i) {
    const size_t life = lifetimes.Of(i);
    if (life == RequestedBlock::kNever) continue;
    const auto size = static_cast<int64_t>(blocks[i].size);
    changes[(i + 1) % period] += size;
    changes[(i + 1 + life) % period] -= size;
  }
  size_t best = repetition.begin;
  int64_t live = 0;
  int64_t least = 0;
  for (size_t i = repetition.begin + 1; i < repetition.begin + period; ++i) {
    live += changes[i % period];
    if (live >= least) continue;
    least = live;
    best = i;
  }
  return best;
}

// The time line of a plan: a point a request, first the prologue's, then the cycle's.
class TimeLine {
 public:
  // All of a run that does not repeat.
  explicit TimeLine(const Blocks& blocks) : prologue_(blocks.size()) {
    AddPrologue(blocks, blocks.size());
  }

  TimeLine(const Blocks& blocks, const Repetition& repetition) {
    const Lifetimes lifetimes(blocks, repetition);
    prologue_ = CheapestCut(blocks, repetition, lifetimes);
    const size_t cycle = repetition.period * lifetimes.PeriodsToUnroll();
    AddPrologue(blocks, prologue_ + cycle);
    for (size_t i = prologue_; i < prologue_ + cycle; ++i) {
      // The block's size one period on or back is the same.
      const size_t like = repetition.begin + (i - repetition.begin) % repetition.period;
      AddOfCycle(i, blocks[like].size, lifetimes.Of(i), prologue_ + cycle);
    }
  }

  const std::vector<PackingItem>& items() const { return items_; }
  size_t prologue() const { return prologue_; }

 private:
  void AddPrologue(const Blocks& blocks, size_t end) {
    items_.reserve(end);
    for (size_t i = 0; i < prologue_; ++i) {
      items_.push_back({i, std::min(blocks[i].death, end), blocks[i].size});
    }
  }

  // What is alive when the cycle begins anew has its place for all of it.
  void AddOfCycle(size_t i, Bytes size, size_t life, size_t end) {
    const bool is_over_before = life != RequestedBlock::kNever && i + life + 1 <= end;
    if (is_over_before) {
      items_.push_back({i, i + life + 1, size});
    } else {
      items_.push_back({prologue_, end, size});
    }
  }

  size_t prologue_ = 0;
  std::vector<PackingItem> items_;
};

void Place(const TimeLine& line, const PackingBudget& budget, StreamPlan& planned) {
  const Packing packing = Pack(line.items(), budget);
  planned.section.prologue = line.prologue();
  planned.section.bytes = packing.height;
  planned.section.items.reserve(line.items().size());
  for (size_t i = 0; i < line.items().size(); ++i) {
    planned.section.items.push_back({line.items()[i].size, packing.offsets[i]});
  }
  planned.lower_bound = packing.lower_bound;
  planned.is_optimal = packing.is_optimal;
}

}  // namespace

StreamPlan PlanStream(const StreamRequests& requests, bool ends_in_failure,
                      const PackingBudget& budget) {
  const Blocks& blocks = requests.blocks;
  StreamPlan planned{
      .section = {.device = requests.device, .stream = 0, .bytes = 0, .prologue = 0, .items = {}},
      .repetition = ends_in_failure ? Repetition{} : FindRepetition(blocks),
      .ends_in_failure = ends_in_failure,
      .requests = blocks.size()};
  const bool repeats = planned.repetition.period > 0;
  Place(repeats ? TimeLine(blocks, planned.repetition) : TimeLine(blocks), budget, planned);
  const size_t end = repeats ? planned.repetition.end : blocks.size();
  for (size_t i = 0; i < blocks.size(); ++i) {
    planned.requested += blocks[i].size;
    if (i < end) planned.planned += blocks[i].size;
  }
  return planned;
}

MemoryPlan PlanMemory(const RequestLog& log, const PackingBudget& budget) {
  MemoryPlan plan{.streams = {}, .requested = log.requested(), .reserved = log.reserved()};
  std::map<int32_t, uint32_t> streams;  // of each card so far
  plan.streams.reserve(log.streams().size());
  for (const StreamRequests& requests : log.streams()) {
    plan.streams.push_back(PlanStream(requests, log.EndsInFailure(requests.device), budget));
    plan.streams.back().section.stream = streams[requests.device]++;
  }
  return plan;
}

Plan MemoryPlan::plan() const {
  Plan plan;
  for (const StreamPlan& stream : streams) plan.Add(stream.section);
  return plan;
}

}  // namespace memtrace::analysis
