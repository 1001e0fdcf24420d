// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SEARCH_H_
#define MEMTRACE_TOOLS_FIT_SEARCH_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/fit/answer.h"
#include "tools/fit/trial.h"

namespace memtrace::fit {

struct Question {
  Trial trial;  // on the cards that were asked for; its command may have options that vary
  std::vector<Variation> variations;
  bool with_remedies = true;
  std::string user_settings;  // of PYTORCH_CUDA_ALLOC_CONF
};

class Search {
 public:
  // Runs a trial and reads what it left; told apart by a name for progress. Errors: as of RunTrial.
  using Runner = std::function<absl::StatusOr<Outcome>(const Trial&, std::string_view name)>;

  explicit Search(Runner run) : run_(std::move(run)) {}

  // The need, whether it fits, and what would make it fit. kFailedPrecondition: the program fails
  // by itself, in a sentence; else as of the runner.
  absl::StatusOr<Answer> Run(const Question& question);

 private:
  absl::Status TryValues(const Question& question, const Variation& variation, Answer& answer,
                         std::vector<Candidate>& useful);
  absl::Status TryRemedies(const Question& question, Answer& answer);
  static void Note(TriedRemedy tried, Answer& answer);
  absl::StatusOr<TriedRemedy> Try(const Question& question, std::vector<Candidate> changes);

  Runner run_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SEARCH_H_
