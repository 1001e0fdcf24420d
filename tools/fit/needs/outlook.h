// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_OUTLOOK_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_OUTLOOK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/fit/needs/climb.h"
#include "tools/fit/needs/need.h"

namespace memtrace::fit {

// The extent to which a run was seen, and what its peaks say about the steps after that.
struct Outlook {
  uint64_t steps = 0;          // steps of the process that made most
  uint64_t planned_steps = 0;  // with which its Trainer means to end; 0: not known
  uint64_t last_rise = 0;      // the last step that raised an allocated peak; 0: none did
  bool is_whole = true;        // every process ended by itself: no step comes after that
  bool rose_after = false;     // ... and a peak rose after the last step: evaluation, saving
  bool rose_last = false;      // the last step that was seen raised a peak
  std::optional<Climb> climb;  // of a peak or of what stays, where the card would be full first
  int32_t card = 0;            // ... and its number
  uint64_t full_in_step = 0;   // ... and the step in which it would be

  // True if memory grows, but the steps that are planned end before the card would be full.
  bool EndsBeforeFull() const { return climb && planned_steps > 0 && full_in_step > planned_steps; }
};

// The least that several runs saw of the program, each of which fitted.
struct LeastSeen {
  uint64_t steps = 0;    // 0: no run, or none of them made a step
  bool is_whole = true;  // each came to the program's end
  bool has_runs = false;

  void Add(const Outlook& run);
};

// `card_bytes` are those of each card that the processes ran on.
Outlook OutlookOf(const std::vector<ProcessNeed>& processes,
                  const std::vector<uint64_t>& card_bytes);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_OUTLOOK_H_
