// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PLANNING_REPETITION_H_
#define MEMTRACE_TOOLS_ANALYSIS_PLANNING_REPETITION_H_

#include <cstddef>

#include "absl/types/span.h"
#include "tools/analysis/planning/request_log.h"

namespace memtrace::analysis {

// Requests [begin, end) have the sizes of those `period` before them, from begin + period on.
struct Repetition {
  // A block that lives longer than so many periods does not belong to a step.
  static constexpr size_t kMostPeriods = 4;

  size_t begin = 0;
  size_t end = 0;
  size_t period = 0;  // 0: nothing repeats

  double times() const {
    return period == 0 ? 0 : static_cast<double>(end - begin) / static_cast<double>(period);
  }
};

// The steps of a run: the repetition that covers most requests, the smallest period among equals,
// of those that cover two periods and a third of the run at least, and whose blocks do not pile up
// (as those of the layers of a forward pass do, which repeat as well). Only sizes are compared.
Repetition FindRepetition(absl::Span<const RequestedBlock> blocks);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PLANNING_REPETITION_H_
