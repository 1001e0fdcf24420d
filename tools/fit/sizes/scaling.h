// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SIZES_SCALING_H_
#define MEMTRACE_TOOLS_FIT_SIZES_SCALING_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/answer/runner.h"

namespace memtrace::fit {

// Returns the need at each value without a limit, and what grows with it. With a card, also the
// largest value that completes on it, each tried by a run. Errors: kInvalidArgument, with a
// sentence, if the values are not whole numbers from 1 on; those of CheckOutcomeIsUseful; and those
// of the runner.
absl::StatusOr<Scaling> FindScaling(const Question& question, const Variation& variation,
                                    const Runner& run);

// Returns the values of a scaling, ascending. kInvalidArgument as above.
absl::StatusOr<std::vector<uint64_t>> ValuesOf(const Variation& variation);

// Returns the formula through one to three points of (value, bytes) with different values.
NeedFormula FormulaThrough(const std::vector<std::pair<uint64_t, double>>& points);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SIZES_SCALING_H_
