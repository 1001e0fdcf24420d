// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_COURSE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_COURSE_H_

#include <cstdint>
#include <optional>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replay/placement_sink.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/recorded_run.h"
#include "tools/analysis/replayed/block_lives.h"

namespace memtrace::replay {

// Replays one card's events with any policy, which decides everything. The trace only gives what
// the program did, and when other streams were done with a block. A request that is not served is
// left out, and so is its free.
//
// Thread rule: one thread at a time.
class Course {
 public:
  struct Failure {
    uint64_t sequence = 0;
    Bytes requested = 0;
  };

  // All outlive it.
  Course(Policy& policy, const RecordedDevice& recorded, int32_t device, const PlacementSink& sink)
      : policy_(policy), recorded_(recorded), device_(device), sink_(sink) {}

  void See(const trace::Event& event);
  void End() { EndFree(); }

  uint64_t allocations() const { return allocations_; }
  uint64_t failures() const { return failures_; }
  const std::optional<Failure>& first_failure() const { return first_failure_; }

 private:
  // Empty for a request that was not served.
  using Lives = analysis::BlockLives<std::optional<BlockNumber>>;

  // Ignores events that change nothing here.
  template <trace::OneOf<trace::Reserve, trace::Map, trace::Unmap, trace::Relabel, trace::Step,
                         trace::PhaseChange, trace::TagChange, trace::Annotate, trace::CardSample,
                         trace::Lost, trace::OutsideAllocate, trace::OutsideFree, trace::Resume,
                         trace::Activity, trace::Moved>
                Ignored>
  void Apply(uint64_t, const Ignored&) {}
  void Apply(uint64_t sequence, const Lives::Born& born);
  void Apply(uint64_t sequence, const Lives::Found& found);
  void Apply(uint64_t sequence, const Lives::LetGo& let_go);
  void Apply(uint64_t sequence, const Lives::Ended& ended);
  void Apply(uint64_t sequence, const Lives::Stray& stray);
  void Apply(uint64_t sequence, const trace::OutOfMemory& failure);

  std::optional<Placed> Serve(uint64_t sequence, const Request& request);
  void LetGo(std::optional<BlockNumber> block);
  void EndFree();

  Policy& policy_;
  const RecordedDevice& recorded_;
  const int32_t device_;
  const PlacementSink& sink_;
  Lives lives_;
  // The block that the latest event let go of, if it did. The next event tells whether it ends at
  // once.
  std::optional<BlockNumber> let_go_;
  size_t emptied_ = 0;  // of recorded_.empty_cache
  uint64_t allocations_ = 0;
  uint64_t failures_ = 0;
  std::optional<Failure> first_failure_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_COURSE_H_
