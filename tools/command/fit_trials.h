// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_FIT_TRIALS_H_
#define MEMTRACE_TOOLS_COMMAND_FIT_TRIALS_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "tools/fit/question.h"

namespace memtrace::command {

// Runs trials in folders of their own, reads what they left, and says on stderr what it does.
class FitTrials {
 public:
  // `says_progress`: on a terminal, which can take a line back.
  FitTrials(std::filesystem::path folder, bool says_progress)
      : folder_(std::move(folder)), says_progress_(says_progress) {}

  // Errors: as of fit::RunTrial; kCancelled if we are asked to stop.
  absl::StatusOr<fit::Outcome> Run(const fit::Trial& trial, std::string_view name);

  // The last lines of the latest trial, if it failed by itself.
  const std::string& log_end() const { return log_end_; }
  // And its exit code.
  int exit_code() const { return exit_code_; }

  // The signal by which we were asked to stop; 0: none.
  int asked_to_stop() const { return asked_to_stop_; }

 private:
  std::filesystem::path folder_;
  std::string log_end_;
  bool says_progress_;
  int number_ = 0;
  int exit_code_ = 0;
  int asked_to_stop_ = 0;
};

// How `fit` and `estimate` say what they found.
struct FitOutput {
  bool json = false;
  bool quiet = false;
  bool is_own_program = false;  // of memtrace: its last sentence and exit code are ours
};

// Asks, prints the answer on stdout and gives the exit code: kDone, kLimitExceeded (it does not
// fit), kUnreadable (the program fails by itself), kUsage, kEnvironment, 128 + n after signal n.
int AskFit(const fit::Question& question, const FitOutput& output);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_FIT_TRIALS_H_
