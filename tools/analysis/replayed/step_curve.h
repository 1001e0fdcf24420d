// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_STEP_CURVE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_STEP_CURVE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/trace/events/event.h"

namespace memtrace::analysis {

// The live bytes of one card along a step, allocation by allocation, kept for two steps: the
// previous one tells what the rest of this one will need, as long as both do the same.
class StepCurve {
 public:
  void BeginStep(uint64_t number);

  // `level`: bytes that were live just before.
  void Allocated(trace::StackId stack, uint64_t requested, uint64_t level);

  // Returns how far the rest of the previous step, from the allocation with the same ordinal on,
  // rose above the level just before it. Nothing if that allocation had another size (the steps
  // differ), or if the previous step was the first, which makes the optimizer's states once and for
  // all.
  std::optional<uint64_t> RiseFrom(uint64_t requested) const;
  // Does the same from the allocation that has this stack and size and the same ordinal among such,
  // of whatever step came before: the first one's rise includes what it made once and for all.
  std::optional<uint64_t> RiseFromSameRequest(trace::StackId stack, uint64_t requested) const;

 private:
  struct Point {
    trace::StackId stack = 0;
    uint64_t requested = 0;
    uint64_t level = 0;  // in a finished step: the rise from here to the step's highest point
  };

  uint64_t number_ = 0;
  uint64_t previous_number_ = 0;
  std::vector<Point> points_;
  std::vector<Point> previous_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_STEP_CURVE_H_
