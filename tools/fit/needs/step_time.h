// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_STEP_TIME_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_STEP_TIME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"

namespace memtrace::fit {

// The estimated time of a part of a step, in microseconds. The backward pass includes what is
// computed again in it.
struct PartTime {
  std::string phase;  // a name of phases.def
  uint64_t card = 0;  // of its kernels
  uint64_t host = 0;  // of launching them
};

// The estimated time of a process's last whole step (docs/design/whole-job.md, "How long a step
// takes"). It is better as a ratio to another step of the same program than as a time.
struct StepTime {
  std::vector<PartTime> parts;
  uint64_t bus = 0;          // microseconds of copies between host and card that nothing hides
  uint64_t link = 0;         // microseconds in which cards send to each other
  bool is_measured = false;  // the card's rates were measured; else they are scaled
  std::vector<std::string> unknown;  // operators whose time is only assumed from their bytes
  uint64_t launches = 0;             // operators that launched work
  uint64_t uncounted = 0;            // kernels that no operator launched: they have no time here

  // The larger of the card's and the host's time in each part, plus the copies; what cards send is
  // hidden behind the card's work as far as that goes.
  double microseconds() const;
  double seconds() const { return microseconds() / 1e6; }

  // True if the host's time exceeds the card's in most of the step: the processor decides.
  bool is_bound_by_launches() const;

  // False if kernels that are not counted may take a large part of the step.
  bool is_whole() const;
};

// Reads the time of the last whole step; nothing if the annotations have none.
std::optional<StepTime> StepTimeOf(const analysis::Annotations& annotations);

// Returns the time of `after` as a multiple of that of `before`; nothing if one of them is not
// known or not whole.
std::optional<double> TimeRatio(const std::optional<StepTime>& before,
                                const std::optional<StepTime>& after);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_STEP_TIME_H_
