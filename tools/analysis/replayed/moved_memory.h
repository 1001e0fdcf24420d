// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MOVED_MEMORY_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MOVED_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// The bytes that moved in one way, to one place, in one step.
struct MovedBytes {
  int32_t device = 0;
  trace::MoveKind kind = trace::MoveKind::kGaveWay;
  uint64_t step = 0;  // 0: before the first
  std::string to;  // "NCCL", "process 4711 (rank 1)"; a place in the program if no library is known
  uint64_t bytes = 0;
  uint64_t times = 0;
};

// Sums up what moved out of the way of others, and back.
class MovedMemory {
 public:
  void Apply(const trace::Event& event);

  // Returns the sums by step. Names places with `sites`, and processes as `source` names them.
  std::vector<MovedBytes> Sums(SiteNames& sites, const EventSource& source) const;

 private:
  struct Sum {
    uint64_t bytes = 0;
    uint64_t times = 0;
  };
  using Key = std::tuple<uint64_t, int32_t, trace::MoveKind, trace::StringId, trace::StackId>;

  void Apply(const trace::Step& step) { step_ = step.number; }
  void Apply(const trace::Resume& resumed) { step_ = resumed.step; }
  void Apply(const trace::Moved& moved);
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::PhaseChange, trace::TagChange,
                   trace::Annotate, trace::OutOfMemory, trace::CardSample, trace::Lost,
                   trace::OutsideAllocate, trace::OutsideFree, trace::Alive, trace::Activity>
          Ignored>
  void Apply(const Ignored&) {}

  uint64_t step_ = 0;
  std::map<Key, Sum> sums_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MOVED_MEMORY_H_
