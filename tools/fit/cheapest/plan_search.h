// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHEAPEST_PLAN_SEARCH_H_
#define MEMTRACE_TOOLS_FIT_CHEAPEST_PLAN_SEARCH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/answer/runner.h"
#include "tools/fit/cheapest/remedy_trial.h"

namespace memtrace::fit {

// Finds the cheapest plan for a program that does not fit: runs each change alone that can help,
// then plans of them. Changes that may alter results are left until one that keeps them is found.
//
// Thread rule: one thread at a time.
class PlanSearch {
 public:
  // Adds what it finds to `answer`, which has the runs without a limit and on the card. The trial
  // of the question makes as many steps as its peak needs.
  PlanSearch(const Question& question, const Runner& run, Answer& answer)
      : question_(question), run_(run), answer_(answer), runs_left_(question.most_runs) {}

  // Returns the errors of the runner. The answer has no cheapest plan if the time of a step is not
  // known; then this only finds which changes have places in the program.
  absl::Status Run();

  // Returns the candidate with its places and the degree in which it is run alone. Returns nothing
  // if it is not to be run, and adds to the answer why. Call it after Run().
  std::optional<Candidate> ToRun(Candidate candidate);

  // Returns the first run of each of these candidates, if changes are tried without degrees.
  std::vector<Trial> FirstTrialsOf(std::span<const Candidate> candidates) const;

  // Returns the candidate in the largest degree that the host has the memory for, which takes a run
  // for some. Returns nothing if there is none, and adds to the answer why.
  absl::StatusOr<std::optional<Candidate>> Largest(Candidate candidate);

 private:
  absl::Status RunReference();
  void WillTryAlone(std::span<const Candidate> candidates) const;
  void NoteWithoutPlaces(Candidate candidate);
  absl::Status TryAlone(const Candidate& of);
  absl::Status MeasureAlone(const Candidate& candidate);
  absl::Status FindCheapest();
  bool CanHelp(const Candidate& candidate) const;
  bool IsOfOtherRanks(const Candidate& candidate) const;
  bool HasNoPlaces(const Candidate& candidate) const;
  Candidate Prepared(Candidate candidate) const;
  std::optional<TrialCards> FirstCardsOf(const Candidate& candidate) const;
  bool SomethingFits() const;
  // True if another run may be made while `kept` are left.
  bool HasRuns(uint64_t kept = 0) const { return runs_left_ > kept; }

  const Question& question_;
  const Runner& run_;
  Answer& answer_;
  uint64_t runs_left_;
  std::optional<Outcome> unchanged_;  // the run in which hooks counted their places
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHEAPEST_PLAN_SEARCH_H_
