// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHANGES_CANDIDATES_H_
#define MEMTRACE_TOOLS_FIT_CHANGES_CANDIDATES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analysis/cures/savings.h"
#include "tools/fit/trials/trial.h"
#include "tools/remedies/catalogue.h"

namespace memtrace::fit {

// A change that a trial can make.
struct Candidate {
  std::string name;
  std::string change;  // the line or option, as a user writes it
  std::string cost;
  analysis::Effort effort = analysis::Effort::kSetting;
  std::string hook = "";      // of MEMTRACE_FIT_CHANGES; empty: none
  std::string settings = "";  // of PYTORCH_CUDA_ALLOC_CONF; empty: the user's
  std::string allocator = "native";
  std::string option = "";  // an option of the script that the user lets vary; with the next
  std::string value = "";
  bool takes_another_card = false;  // of the same kind, unless there are several
  remedies::Degrees degrees = {};   // that the hook can have
  uint32_t degree = 0;              // of the hook, as 9 layers; 0: none
  uint32_t of = 0;                  // the places of the hook, as 32 layers; 0: not known

  // Returns the word of MEMTRACE_FIT_CHANGES: "checkpoint=9"; "" if there is no hook.
  std::string HookWord() const;

  // Returns the name as a user reads it: "gradient checkpointing of 9 of 32 layers".
  std::string NameWithDegree() const;
};

// Returns all known candidates, the least change first (docs/design/fit.md has the table).
std::vector<Candidate> AllCandidates();

// Returns `base` with each of `by` added, without sets that contradict themselves, the least change
// first: by their largest effort, then by their number.
std::vector<std::vector<Candidate>> Extensions(const std::vector<Candidate>& base,
                                               const std::vector<Candidate>& by);

// True if both set the same thing, so that one program cannot have both.
bool AreInConflict(const Candidate& a, const Candidate& b);

// True if `a` is less work to make than `b`.
bool IsLess(const std::vector<Candidate>& a, const std::vector<Candidate>& b);

// An option of the script with values that the user lists: "{NAME}" in the command stands for one.
struct Variation {
  std::string name;
  std::vector<std::string> values;  // the first is the user's own
};
// Parses "batch_size=8,4,2". Returns kInvalidArgument with a sentence that names the option.
absl::StatusOr<Variation> ParseVariation(const std::string& option, std::string_view text);

// Returns the command with each option at its first value.
std::vector<std::string> WithFirstValues(std::vector<std::string> command,
                                         const std::vector<Variation>& variations);

// Returns a candidate for each value but the first.
std::vector<Candidate> CandidatesOf(const Variation& variation);

// Returns the number of processes that a launcher is told to start ("torchrun --nproc-per-node 4")
// and smaller ones, if it is more than `cards`. Replaces the number in `command` with a
// placeholder.
std::optional<Variation> ProcessVariation(std::vector<std::string>& command, size_t cards);

// Returns the trial with these changes added and all other options at their first values.
// `user_settings` are the user's PYTORCH_CUDA_ALLOC_CONF.
Trial WithChanges(Trial trial, const std::vector<Candidate>& changes,
                  std::string_view user_settings, const std::vector<Variation>& variations);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHANGES_CANDIDATES_H_
