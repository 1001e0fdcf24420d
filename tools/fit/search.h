// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SEARCH_H_
#define MEMTRACE_TOOLS_FIT_SEARCH_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/answer/runner.h"
#include "tools/fit/cheapest/plan_search.h"
#include "tools/fit/trials/trial.h"

namespace memtrace::fit {

// Answers one question by trials: the need, if it fits, what would make it fit, and more on
// request.
//
// Thread rule: one thread at a time.
class Search {
 public:
  Search(Question question, Runner run) : question_(std::move(question)), run_(std::move(run)) {}

  // Runs the trials. Returns kFailedPrecondition, with a sentence, if the program fails by itself;
  // other errors are those of the runner. Call it once.
  absl::Status Run();

  // The answer; after an error, the part that was found before it.
  const Answer& answer() const { return answer_; }

 private:
  absl::Status FindLargest();
  absl::Status FindLargestOfWholeJob();
  absl::Status MeasureNeed();
  absl::Status TryOnCard(Trial within);
  absl::StatusOr<Trial> FollowClimb(Trial within);
  absl::Status MeasureWholeJob();
  absl::Status TryWholeJob();
  absl::Status TryRemedies();
  absl::Status TryEach(PlanSearch& plans, std::vector<Candidate>& useful);
  absl::Status TryValues(const Variation& variation, std::vector<Candidate>& useful);
  absl::Status TryCombinations(const std::vector<Candidate>& useful);
  absl::Status Note(TriedRemedy tried);
  absl::StatusOr<bool> HasMargin(Trial trial, const Outcome& outcome, std::string_view name) const;
  // True if these changes would be recommended if the program completed with them.
  bool MayBeBest(const std::vector<Candidate>& changes) const;

  Question question_;
  Runner run_;
  Answer answer_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SEARCH_H_
