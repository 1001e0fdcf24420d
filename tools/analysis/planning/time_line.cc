// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/time_line.h"

#include <algorithm>

namespace memtrace::analysis {
namespace {

using RequestedBlocks = std::vector<RequestedBlock>;

// The lifetimes of the blocks of one period, in requests: so many are made after a block before it
// is free. kNever for blocks whose end no period shows.
class Lifetimes {
 public:
  Lifetimes(const RequestedBlocks& blocks, const Repetition& repetition)
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

  // Returns the number of periods until no block is alive when its successor is born.
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

// Returns the request in [begin, begin + period) before which the fewest bytes of steps are alive.
size_t CheapestCut(const RequestedBlocks& blocks, const Repetition& repetition,
                   const Lifetimes& lifetimes) {
  const size_t period = repetition.period;
  // The change of live bytes before each request, in a steady state.
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

void AddPrologue(const RequestedBlocks& blocks, size_t end, TimeLine& line) {
  line.items.reserve(end);
  for (size_t i = 0; i < line.prologue; ++i) {
    line.items.push_back({i, std::min(blocks[i].death, end), blocks[i].size});
  }
}

// Adds a block that is born at i and alive when the cycle begins anew.
void AddWrapped(const RequestedBlocks& blocks, size_t i, Bytes size, size_t life, size_t end,
                TimeLine& line) {
  const size_t cycle = end - line.prologue;
  PackingItem item{line.prologue, end, size};
  size_t dies = life == RequestedBlock::kNever ? end : i + life + 1 - cycle;
  // The block that had this one's part in the prologue, if it lives on into the first cycle.
  const size_t before = i - cycle;
  const bool has_predecessor = i >= cycle && before < line.prologue &&
                               blocks[before].size == size && blocks[before].death > line.prologue;
  if (has_predecessor) {
    item.begin = before;
    dies = std::max(dies, std::min(blocks[before].death, end));
    line.items[before] = {0, 0, size};
    line.predecessors.emplace_back(before, i);
  }
  if (dies < i) line.wrapped.push_back({i, dies, i});
  line.items.push_back(item);
}

}  // namespace

TimeLine TimeLineOf(const RequestedBlocks& blocks) {
  TimeLine line{.items = {}, .wrapped = {}, .predecessors = {}, .prologue = blocks.size()};
  AddPrologue(blocks, blocks.size(), line);
  return line;
}

TimeLine TimeLineOf(const RequestedBlocks& blocks, const Repetition& repetition) {
  const Lifetimes lifetimes(blocks, repetition);
  TimeLine line;
  line.prologue = CheapestCut(blocks, repetition, lifetimes);
  const size_t end = line.prologue + repetition.period * lifetimes.PeriodsToUnroll();
  AddPrologue(blocks, end, line);
  for (size_t i = line.prologue; i < end; ++i) {
    // The block's size is the same one period later or earlier.
    const size_t like = repetition.begin + (i - repetition.begin) % repetition.period;
    const Bytes size = blocks[like].size;
    const size_t life = lifetimes.Of(i);
    if (life != RequestedBlock::kNever && i + life + 1 <= end) {
      line.items.push_back({i, i + life + 1, size});
    } else {
      AddWrapped(blocks, i, size, life, end, line);
    }
  }
  return line;
}

}  // namespace memtrace::analysis
