// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_QUESTION_H_
#define MEMTRACE_TOOLS_FIT_QUESTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/answer.h"
#include "tools/fit/candidates.h"
#include "tools/fit/trial.h"

namespace memtrace::fit {

struct Question {
  Trial trial;  // on the cards that were asked for; its command may have options that vary
  std::vector<Variation> variations;  // tried as remedies
  std::vector<Variation> scalings;    // of which the need is told as it grows
  bool asks_card = true;              // else only the need is asked
  bool with_remedies = true;
  bool with_smallest_card = false;
  uint64_t margin_percent = 5;  // of each card, that a recommendation leaves
  std::string user_settings;    // of PYTORCH_CUDA_ALLOC_CONF

  // All options that vary: each stands at its first value where another is tried.
  std::vector<Variation> Options() const {
    std::vector<Variation> all = variations;
    all.insert(all.end(), scalings.begin(), scalings.end());
    return all;
  }
};

// Runs a trial and reads what it left; told apart by a name for progress. Errors: as of RunTrial.
using Runner = std::function<absl::StatusOr<Outcome>(const Trial&, std::string_view name)>;

// An outcome from which nothing about memory can be learnt: kFailedPrecondition, a sentence.
absl::Status WhyUseless(const Outcome& outcome, const Trial& trial);

// The trial on the same cards without a limit. kInvalidArgument: as of WithBytes.
absl::StatusOr<Trial> Unlimited(Trial trial);

// The trial for as many steps as `seen` was watched; to its end, if that was.
Trial AsFarAs(Trial trial, const Outcome& seen);

// The trial for as many steps as it takes to meet the highest peak of `seen`, and one more.
Trial PastThePeakOf(Trial trial, const Outcome& seen);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_QUESTION_H_
