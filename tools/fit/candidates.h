// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CANDIDATES_H_
#define MEMTRACE_TOOLS_FIT_CANDIDATES_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/savings.h"
#include "tools/fit/trial.h"

namespace memtrace::fit {

// A change that a trial can be made with.
struct Candidate {
  std::string_view name;
  std::string_view change;  // the line or option, as a user writes it
  std::string_view cost;
  analysis::Effort effort;
  std::string_view hook;      // of MEMTRACE_FIT_CHANGES; empty: none
  std::string_view settings;  // of PYTORCH_CUDA_ALLOC_CONF; empty: the user's
  std::string_view allocator = "native";
};

// All that are known, the least change first (docs/fit.md has the table).
std::vector<Candidate> AllCandidates();

// Sets of two and three of these, without those that contradict each other, the least change first:
// by their largest effort, then by how many they are.
std::vector<std::vector<Candidate>> Combinations(const std::vector<Candidate>& of);

// Whether `a` asks less of whoever makes it than `b`.
bool IsLess(const std::vector<Candidate>& a, const std::vector<Candidate>& b);

// The trial with these changes, too. `user_settings`: of PYTORCH_CUDA_ALLOC_CONF.
Trial WithChanges(Trial trial, const std::vector<Candidate>& changes,
                  std::string_view user_settings);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CANDIDATES_H_
