// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SCALING_H_
#define MEMTRACE_TOOLS_FIT_SCALING_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/question.h"

namespace memtrace::fit {

// The need at each value, without a limit, and what grows with it; with a card, the largest value
// that completes on it, each tried by a run. kInvalidArgument: the values are not numbers from 1
// on, a sentence; kFailedPrecondition: as of WhyUseless; else as of the runner.
absl::StatusOr<Scaling> FindScaling(const Question& question, const Variation& variation,
                                    const Runner& run);

// The values of a scaling, ascending. kInvalidArgument: as above.
absl::StatusOr<std::vector<uint64_t>> ValuesOf(const Variation& variation);

// Through all of one to three points of (value, bytes) of different values.
NeedFormula FormulaThrough(const std::vector<std::pair<uint64_t, double>>& points);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SCALING_H_
