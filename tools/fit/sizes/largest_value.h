// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SIZES_LARGEST_VALUE_H_
#define MEMTRACE_TOOLS_FIT_SIZES_LARGEST_VALUE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/answer/runner.h"

namespace memtrace::fit {

// The largest value of an option of the script with which the program survives on the card.
struct LargestValue {
  Scaling scaling;  // the values that were run without a limit, and the largest that fits
  Outcome outcome;  // on the card, of the largest value; of the least if none fits
  Outcome beyond;   // of `scaling.fails`; empty if nothing failed
};

// Parses "batch", or "length=64" for multiples of 64. Returns kInvalidArgument with a sentence.
absl::StatusOr<LargestOption> ParseLargest(std::string_view text);

// Finds it by runs: without a limit from the least value on, four times as much each, until the
// card would be full; then on the card, until a value survives as long as the least one was
// watched, and the next one does not. Errors are those of CheckOutcomeIsUseful for the least value,
// and those of the runner.
absl::StatusOr<LargestValue> FindLargestValue(const Question& question, const Runner& run);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SIZES_LARGEST_VALUE_H_
