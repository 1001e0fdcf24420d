// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CANDIDATES_H_
#define MEMTRACE_TOOLS_FIT_CANDIDATES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analysis/cures/savings.h"
#include "tools/fit/trial.h"

namespace memtrace::fit {

// A change that a trial can be made with.
struct Candidate {
  std::string name;
  std::string change;  // the line or option, as a user writes it
  std::string cost;
  analysis::Effort effort = analysis::Effort::kSetting;
  std::string hook = "";      // of MEMTRACE_FIT_CHANGES; empty: none
  std::string settings = "";  // of PYTORCH_CUDA_ALLOC_CONF; empty: the user's
  std::string allocator = "native";
  std::string option = "";  // of the script, that the user lets vary; with the next
  std::string value = "";
  bool takes_another_card = false;  // of the same kind, unless there are several
};

// All that are known, the least change first (docs/fit.md has the table).
std::vector<Candidate> AllCandidates();

// `base` with one more of `by` each, without those that contradict each other, the least change
// first: by their largest effort, then by how many they are.
std::vector<std::vector<Candidate>> Extensions(const std::vector<Candidate>& base,
                                               const std::vector<Candidate>& by);

// Whether `a` asks less of whoever makes it than `b`.
bool IsLess(const std::vector<Candidate>& a, const std::vector<Candidate>& b);

// An option of the script whose values the user names: "{NAME}" in the command stands for one.
struct Variation {
  std::string name;
  std::vector<std::string> values;  // the first is the user's own
};
// "batch_size=8,4,2". kInvalidArgument: a sentence that names the option.
absl::StatusOr<Variation> ParseVariation(const std::string& option, std::string_view text);

// The command with each option at its first value.
std::vector<std::string> AsAsked(std::vector<std::string> command,
                                 const std::vector<Variation>& variations);

// The other values.
std::vector<Candidate> CandidatesOf(const Variation& variation);

// The number of processes that a launcher is told to start ("torchrun --nproc-per-node 4"), where
// it is more than `cards`: fewer of them may be tried. Its place in `command` is left open.
std::optional<Variation> ProcessVariation(std::vector<std::string>& command, size_t cards);

// The trial with these changes, too, all other options at their first values. `user_settings`: of
// PYTORCH_CUDA_ALLOC_CONF.
Trial WithChanges(Trial trial, const std::vector<Candidate>& changes,
                  std::string_view user_settings, const std::vector<Variation>& variations);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CANDIDATES_H_
