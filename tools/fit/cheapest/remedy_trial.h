// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHEAPEST_REMEDY_TRIAL_H_
#define MEMTRACE_TOOLS_FIT_CHEAPEST_REMEDY_TRIAL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/answer/runner.h"
#include "tools/fit/changes/candidates.h"

namespace memtrace::fit {

// The cards on which changes are tried.
enum class TrialCards : uint8_t { kGiven, kSmallerByMargin, kUnlimited };

// Returns the names of changes as a user reads them: "fused optimizer + gradient checkpointing".
std::string NameOf(const std::vector<Candidate>& changes);

// Returns the question's trial with these changes.
Trial TrialWith(const Question& question, const std::vector<Candidate>& changes);

// Returns the trial with these changes on such cards. Errors are those of WithBytes.
absl::StatusOr<Trial> TrialOn(TrialCards cards, const Question& question,
                              const std::vector<Candidate>& changes);

// Runs the program with these changes. Returns the errors of the runner, and those of WithBytes.
absl::StatusOr<TriedRemedy> TryChanges(const Question& question, const Runner& run,
                                       std::vector<Candidate> changes,
                                       TrialCards cards = TrialCards::kGiven);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHEAPEST_REMEDY_TRIAL_H_
