// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_RUNNER_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_RUNNER_H_

#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/trials/trial.h"

namespace memtrace::fit {

// Runs trials for a search, and reads their results.
class Runner {
 public:
  using Run = std::function<absl::StatusOr<Outcome>(const Trial&, std::string_view name)>;
  using Expect = std::function<void(const std::vector<Trial>&)>;

  template <typename Function,
            typename = std::enable_if_t<std::is_invocable_r_v<absl::StatusOr<Outcome>, Function,
                                                              const Trial&, std::string_view>>>
  Runner(Function run, Expect expect = nullptr)  // NOLINT(google-explicit-constructor): a function
      : run_(std::move(run)), expect_(std::move(expect)) {}

  // Runs a trial; the name is for progress. Errors are those of RunTrial.
  absl::StatusOr<Outcome> operator()(const Trial& trial, std::string_view name) const {
    return run_(trial, name);
  }

  // Tells which trials the search will ask for, or is likely to, the first one first. Some may run
  // beside others until then. No longer expected is what an earlier call named and this one does
  // not. It changes no outcome.
  void WillRun(const std::vector<Trial>& trials) const {
    if (expect_) expect_(trials);
  }

 private:
  Run run_;
  Expect expect_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_RUNNER_H_
