// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_PLANS_PLAN_FIGURES_H_
#define MEMTRACE_TOOLS_FIT_PLANS_PLAN_FIGURES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "profiler/trace/events/event.h"

namespace memtrace::fit {

// The most bytes that a card had to hold in each phase of a program; 0: the phase did not occur.
using PhaseNeeds = std::array<double, trace::kPhaseCount>;

// Memory and time of a program with some changes.
struct PlanFigures {
  PhaseNeeds needs = {};
  double time = 1;  // of a step, as a ratio to the unchanged program's

  double most() const { return *std::max_element(needs.begin(), needs.end()); }
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_PLANS_PLAN_FIGURES_H_
