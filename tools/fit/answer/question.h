// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_QUESTION_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_QUESTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/changes/candidates.h"
#include "tools/fit/trials/trial.h"

namespace memtrace::fit {

// An option of the script, "{NAME}" in the command, whose largest value is searched for.
struct LargestOption {
  std::string name;
  uint64_t step = 1;  // only multiples of it are tried
};

// A card for questions that are about no card. Its size has no effect: only the need is measured.
inline constexpr const char* kAnyCard = "24GiB";

struct Question {
  Trial trial;                        // on the given cards; its command may have options that vary
  std::vector<Variation> variations;  // tried as remedies
  std::vector<Variation> scalings;    // options for which the growth of the need is shown
  std::optional<LargestOption> largest;  // the only question then
  bool asks_card = true;                 // otherwise only the need is measured
  bool with_remedies = true;
  bool with_smallest_card = false;
  bool whole_job = false;         // runs also the job with short loaders
  std::vector<std::string> also;  // calls that this evaluates once
  std::string resumed_by;         // as Trial::resumed_by
  uint64_t margin_percent = 5;    // percent of each card that a recommendation leaves
  uint64_t most_runs = 25;        // with changes, if the time of a step is known
  uint64_t runs_at_once = 1;      // the most, where the host has memory for them
  std::string user_settings;      // of PYTORCH_CUDA_ALLOC_CONF

  // Returns all options that vary. An option stands at its first value while another is tried.
  std::vector<Variation> Options() const {
    std::vector<Variation> all = variations;
    all.insert(all.end(), scalings.begin(), scalings.end());
    return all;
  }
};

// Returns 2; with one processor 1.
uint64_t UsualRunsAtOnce();

// True if a moment needs more than its card has when the batches that did not run are counted. Says
// nothing of moments whose batches all ran.
bool ExceedsWithUnseen(const Outcome& outcome, const std::vector<uint64_t>& card_bytes);

// True if all that the run ever reserved, and the most that it ever held beside, fits these cards:
// it would make the same run there, so it need not be run again.
bool IsBelow(const Outcome& outcome, const std::vector<uint64_t>& card_bytes);

// Returns kFailedPrecondition, with a sentence, if the outcome says nothing about memory.
// `without_limit` is the outcome of the same trial on cards without a limit; null: it is this one.
absl::Status CheckOutcomeIsUseful(const Outcome& outcome, const Trial& trial,
                                  const Outcome* without_limit = nullptr);

// Returns kInvalidArgument, with the run's own sentence, if a call of --also was refused in the
// run.
absl::Status CheckCallsAreKnown(const Outcome& outcome, const Trial& trial);

// Returns the trial on the same cards without a limit. Errors are those of WithBytes.
absl::StatusOr<Trial> Unlimited(Trial trial);

// Returns the trial for as many steps as `seen` had; to its end, if `seen` ended by itself.
Trial ForSameSteps(Trial trial, const Outcome& seen);

// Returns the trial of the whole job: to its end, with its moments.
Trial ForWholeJob(const Question& question);

// Returns the trial for as many steps as it takes to reach the highest peak of `seen`, and one
// more; for as many as `seen` had, if it climbs: fewer would not show that.
Trial UntilAfterPeakOf(Trial trial, const Outcome& seen);

// Returns the trial that runs on until the climb that `seen` shows has filled the card, and a few
// steps beyond; nothing if it shows none, or if the run would take longer than the trial may.
std::optional<Trial> UntilFull(Trial trial, const Outcome& seen);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_QUESTION_H_
