// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_MICRO_BATCH_H_
#define MEMTRACE_PROFILER_RECORDER_MICRO_BATCH_H_

#include <cstdint>

#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// Counts the micro-batches of a step by the phases: a forward after a backward of the same step
// begins the next one. Thread rule: one thread at a time.
class MicroBatch {
 public:
  void BeginStep() { *this = {}; }

  // Returns the number of the phase's micro-batch, from 1; 0 if the phase does not belong to one.
  uint64_t Enter(trace::Phase phase) {
    using trace::Phase;
    if (phase == Phase::kForward && (number_ == 0 || has_backward_)) {
      ++number_;
      has_backward_ = false;
    }
    if (phase == Phase::kBackward) has_backward_ = true;
    const bool is_pass =
        phase == Phase::kForward || phase == Phase::kRecompute || phase == Phase::kBackward;
    return is_pass ? number_ : 0;
  }

 private:
  uint64_t number_ = 0;
  bool has_backward_ = false;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_MICRO_BATCH_H_
