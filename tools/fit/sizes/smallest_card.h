// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SIZES_SMALLEST_CARD_H_
#define MEMTRACE_TOOLS_FIT_SIZES_SMALLEST_CARD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/answer/runner.h"

namespace memtrace::fit {

// Finds the smallest card for torch's allocator as the user has it, with expandable segments, and
// for memtrace's. Each size of the bisection is a run; all cards of the trial have that size. Near
// the limit an allocator is not monotonic to the byte, so sizes differ by steps of 64 MiB, or a
// 256th of the card if that is more. Errors are those of the runner.
absl::StatusOr<std::vector<SmallestCard>> FindSmallestCards(const Question& question,
                                                            const Runner& run);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SIZES_SMALLEST_CARD_H_
