// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_EVENT_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_EVENT_H_

#include <cstdint>
#include <memory>

#include "interpose/simulated_card/work/capture.h"
#include "interpose/simulated_card/work/stream.h"

namespace memtrace::card {

inline constexpr unsigned kEventDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kEventInterprocess = 4;   // CU_EVENT_INTERPROCESS

// The last record of an event. Guarded by Progress::mutex().
struct Event {
  unsigned flags = 0;
  bool recorded = false;
  Work work;                    // the event is done when this is
  std::uint64_t questions = 0;  // number of "not ready" answers
  std::int64_t nanoseconds = 0;
  std::weak_ptr<Capture> capture;  // if recorded in a capture: marks a point in the graph, no time
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_EVENT_H_
