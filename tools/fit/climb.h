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

// Parses the annotation fit.rises: "[[1,[1024]],[2,[2048]]]", a step and the peak of each card.
// Returns the rises of one card; none if the text is malformed.
std::vector<PeakRise> RisesOf(std::string_view text, int32_t card);

// A peak that rises by about the same amount every few steps, until the last step seen.
struct Climb {
  uint64_t bytes = 0;      // bytes that it rises by each time
  uint64_t every = 1;      // steps between rises
  uint64_t times = 0;      // rises seen in a row
  uint64_t last_step = 0;  // the step of the latest rise

  // Returns the first step that needs over `room` bytes more than the last step seen did, if the
  // peak goes on rising like this.
  uint64_t StepBeyond(uint64_t room) const;
};

// Returns nothing if the peak no longer rises, or not regularly. `rises` ascend; `steps` is the
// number of steps seen. Memory that a training allocates in its first two steps does not count.
std::optional<Climb> ClimbOf(const std::vector<PeakRise>& rises, uint64_t steps);

// True if the peak rose in the last step seen.
bool RoseInLastStep(const std::vector<PeakRise>& rises, uint64_t steps);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CLIMB_H_
