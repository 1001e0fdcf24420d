// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CLIMB_H_
#define MEMTRACE_TOOLS_FIT_CLIMB_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace memtrace::fit {

// A step at which the allocated peak of a card rose, and how far.
struct PeakRise {
  uint64_t step = 0;
  uint64_t bytes = 0;

  friend bool operator==(const PeakRise&, const PeakRise&) = default;
};

// Reads the annotation fit.rises: "[[1,[1024]],[2,[2048]]]", a step and the peak of each card.
// Returns the rises of one card; none if the text is something else.
std::vector<PeakRise> RisesOf(std::string_view text, int32_t card);

// A peak that rises by about as much every so many steps, up to the end of what was seen.
struct Climb {
  uint64_t bytes = 0;      // each time
  uint64_t every = 1;      // steps
  uint64_t times = 0;      // seen in a row
  uint64_t last_step = 0;  // at which it rose

  // Returns the first step that needs more than `room` bytes beyond what the last one seen did, if
  // it goes on so.
  uint64_t StepBeyond(uint64_t room) const;
};

// `rises` ascend; `steps` were seen. Nothing if the peak no longer rises, or not regularly. What a
// training allocates in its first two steps is no climb.
std::optional<Climb> ClimbOf(const std::vector<PeakRise>& rises, uint64_t steps);

// True if the peak rose in the last step that was seen.
bool RoseLast(const std::vector<PeakRise>& rises, uint64_t steps);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CLIMB_H_
