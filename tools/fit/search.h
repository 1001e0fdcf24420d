// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SEARCH_H_
#define MEMTRACE_TOOLS_FIT_SEARCH_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/answer.h"
#include "tools/fit/question.h"
#include "tools/fit/trial.h"

namespace memtrace::fit {

class Search {
 public:
  explicit Search(Runner run) : run_(std::move(run)) {}

  // The need, whether it fits, what would make it fit, and what else is asked. kFailedPrecondition:
  // the program fails by itself, in a sentence; else as of the runner.
  absl::StatusOr<Answer> Run(const Question& question);

  // The same; what was found before an error stays in `answer`.
  absl::Status Run(Question question, Answer& answer);

 private:
  absl::Status AskNeed(const Question& question, Answer& answer);
  absl::Status AskCard(const Question& question, const Trial& within, Answer& answer);
  absl::Status TryValues(const Question& question, const Variation& variation, Answer& answer,
                         std::vector<Candidate>& useful);
  absl::Status TryRemedies(const Question& question, Answer& answer);
  absl::Status TryCombinations(const Question& question, const std::vector<Candidate>& useful,
                               Answer& answer);
  absl::Status Note(const Question& question, TriedRemedy tried, Answer& answer);
  absl::StatusOr<TriedRemedy> Try(const Question& question, std::vector<Candidate> changes);
  absl::StatusOr<bool> HasMargin(const Question& question, Trial trial, const Outcome& outcome,
                                 std::string_view name);

  Runner run_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SEARCH_H_
