// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PLANNING_REPETITION_H_
#define MEMTRACE_TOOLS_ANALYSIS_PLANNING_REPETITION_H_

#include <cstddef>

#include "absl/types/span.h"
#include "tools/analysis/planning/request_log.h"

namespace memtrace::analysis {

// From begin + period up to end, each request has the size of the one `period` before it.
struct Repetition {
  // A block that lives longer than this many periods does not belong to a step.
  static constexpr size_t kMostPeriods = 4;

  size_t begin = 0;
  size_t end = 0;
  size_t period = 0;  // 0: nothing repeats

  double times() const {
    return period == 0 ? 0 : static_cast<double>(end - begin) / static_cast<double>(period);
  }
};

// Finds the steps of a run: the repetition that covers most requests, with the smallest period
// among equals, of those that cover at least two periods and a third of the run, and whose blocks
// do not pile up (as those of the layers of a forward pass do, which also repeat). Only sizes are
// compared.
Repetition FindRepetition(absl::Span<const RequestedBlock> blocks);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PLANNING_REPETITION_H_
