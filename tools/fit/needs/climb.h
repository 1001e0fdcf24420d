// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_CLIMB_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_CLIMB_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace memtrace::fit {

// A step at which the allocated peak of a card rose, and how far; or at whose end more was
// allocated than at any end before.
struct PeakRise {
  uint64_t step = 0;
  uint64_t bytes = 0;

  friend bool operator==(const PeakRise&, const PeakRise&) = default;
};

// Parses the annotation fit.rises: "[[1,[1024]],[2,[2048]]]", a step and the peak of each card.
// Returns the rises of one card; none if the text is malformed.
std::vector<PeakRise> RisesOf(std::string_view text, int32_t card);

// Parses the annotation fit.floors, in the form of fit.rises: the steps of one card that left more
// allocated than all before them, from step 2 on, and the bytes beyond those of step 2.
std::vector<PeakRise> FloorsOf(std::string_view text, int32_t card);

// A peak, or what stays allocated between steps, that rises by about the same amount every few
// steps, until the last step seen.
struct Climb {
  uint64_t bytes = 0;        // bytes that it rises by each time
  uint64_t every = 1;        // steps between rises
  uint64_t times = 0;        // rises seen in a row
  uint64_t last_step = 0;    // the step of the latest rise
  bool is_of_floor = false;  // what stays rises; else the peak

  // Returns the first step that needs over `room` bytes more than the last step seen did, if the
  // peak goes on rising like this.
  uint64_t StepBeyond(uint64_t room) const;
};

// Returns nothing if the peak no longer rises, or not regularly. `rises` ascend; `steps` is the
// number of steps seen. Memory that a training allocates in its first two steps does not count.
std::optional<Climb> ClimbOf(const std::vector<PeakRise>& rises, uint64_t steps);

// The same for what stays allocated: from step 3 on, at least the last four gains must be alike.
std::optional<Climb> FloorClimbOf(const std::vector<PeakRise>& floors, uint64_t steps);

// True if the peak rose in the last step seen.
bool RoseInLastStep(const std::vector<PeakRise>& rises, uint64_t steps);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_CLIMB_H_
