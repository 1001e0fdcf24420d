// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_ACTIVITY_WATCH_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_ACTIVITY_WATCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/busy_time.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// The figures that CUPTI recorded of the cards over a trace, and when it was recording
// (docs/design/cupti.md). Times are nanoseconds since the trace began.
class ActivityWatch {
 public:
  void Apply(const trace::Event& event, const EventSource& source);

  // The state at the end of the trace: "on", "paused", "absent" or "refused"; "" if CUPTI was not
  // requested.
  const std::string& state() const { return state_; }
  const std::string& reason() const { return reason_; }  // if not "on"
  bool was_on() const { return !stays_.empty(); }
  uint64_t dropped() const { return dropped_; }  // records that CUPTI could not keep
  // The number and the total length of the times when CUPTI was not recording, after the first
  // time.
  uint64_t gaps() const { return stays_.empty() ? 0 : stays_.size() - 1 + (is_on() ? 0 : 1); }
  uint64_t gap_ns() const;

  uint64_t kernels() const { return kernels_; }
  uint64_t tied_kernels() const { return tied_kernels_; }  // of these, with a block
  uint64_t copies() const { return copies_; }
  uint64_t fills() const { return fills_; }
  // The time during which at least one kernel ran, by card.
  const std::map<int32_t, BusyTime>& kernel_time() const { return kernel_time_; }

  // True if CUPTI was recording from `from` to `to`.
  bool WasOn(uint64_t from, uint64_t to) const;
  // Returns the step that had begun then; 0 before the first.
  uint64_t StepAt(uint64_t time_ns) const;

 private:
  struct Stay {
    uint64_t begin = 0;
    uint64_t end = ~uint64_t{0};
  };
  struct Begun {
    uint64_t time_ns = 0;
    uint64_t step = 0;
  };

  bool is_on() const { return state_ == "on"; }
  void Apply(const trace::Activity& activity, uint64_t time_ns, const EventSource& source);
  void Apply(const trace::Step& step, uint64_t time_ns, const EventSource& /*source*/) {
    steps_.push_back({.time_ns = time_ns, .step = step.number});
  }
  void Apply(const trace::Resume& resume, uint64_t time_ns, const EventSource& /*source*/) {
    steps_.push_back({.time_ns = time_ns, .step = resume.step});
  }
  void Apply(const trace::Annotate& stated, uint64_t time_ns, const EventSource& source);
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::PhaseChange, trace::TagChange,
                   trace::OutOfMemory, trace::CardSample, trace::Lost, trace::OutsideAllocate,
                   trace::OutsideFree, trace::Alive, trace::Moved>
          Ignored>
  void Apply(const Ignored&, uint64_t, const EventSource&) {}

  void Enter(std::string state, uint64_t time_ns);

  std::string state_;
  std::string reason_;
  uint64_t dropped_ = 0;
  std::vector<Stay> stays_;   // on; ascending
  std::vector<Begun> steps_;  // ascending
  uint64_t last_ns_ = 0;
  uint64_t kernels_ = 0;
  uint64_t tied_kernels_ = 0;
  uint64_t copies_ = 0;
  uint64_t fills_ = 0;
  std::map<int32_t, BusyTime> kernel_time_;
};

// Returns when the activity ended.
uint64_t EndOf(const trace::Activity& activity);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_ACTIVITY_WATCH_H_
