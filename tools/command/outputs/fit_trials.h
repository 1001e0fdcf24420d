// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_TRIALS_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_TRIALS_H_

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "tools/command/outputs/changes_file.h"
#include "tools/command/outputs/page_file.h"
#include "tools/command/outputs/workplace.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/forked_trials.h"

namespace memtrace::command {

// Runs trials in folders of their own, reads their results, and prints progress on stderr.
class FitTrials {
 public:
  FitTrials(std::filesystem::path folder, fit::FileKeeping keeping, Progress progress)
      : folder_(std::move(folder)),
        keeping_(std::move(keeping)),
        progress_(progress),
        forks_(folder_ / "forks") {}

  // Errors are those of fit::RunTrial; kCancelled if memtrace is told to stop. If a program fails
  // by itself under a layer that may be the reason, it is run again without one; if it no longer
  // fails by itself, no later trial has a layer.
  absl::StatusOr<fit::Outcome> Run(const fit::Trial& trial, std::string_view name);

  // How the user's files are kept at present.
  const fit::FileKeeping& keeping() const { return keeping_; }

  // The latest trial.
  const fit::StoppedTrial& latest() const { return latest_; }

  // The last lines of the latest trial, if it failed by itself.
  const std::string& log_end() const { return log_end_; }
  // The exit code of the latest trial.
  int exit_code() const { return exit_code_; }

  // Files of the user's that the trials opened for writing without a layer.
  const std::set<std::string>& opened() const { return opened_; }

  // The runs that were forked.
  const fit::ForkedTrials& forks() const { return forks_; }

  // The signal that told memtrace to stop; 0: none.
  int asked_to_stop() const { return asked_to_stop_; }

 private:
  absl::StatusOr<fit::Outcome> RunOnce(const fit::Trial& trial, std::string_view name);
  absl::StatusOr<fit::TrialResult> RunIn(const std::filesystem::path& folder,
                                         const fit::Trial& trial, fit::ForkServer* server);
  fit::ForkServer* ServerFor(const fit::Trial& trial);
  void PrintTrialBegin(std::string_view name) const;
  void PrintTrialEnd(std::string_view name, const std::string& end) const;

  std::filesystem::path folder_;
  fit::FileKeeping keeping_;
  fit::StoppedTrial latest_;
  std::set<std::string> opened_;
  std::string log_end_;
  Progress progress_;
  fit::ForkedTrials forks_;
  int number_ = 0;
  int exit_code_ = 0;
  int asked_to_stop_ = 0;
};

// Options for the output of `fit` and `estimate`.
struct FitOutput {
  bool json = false;
  bool quiet = false;
  bool is_own_program = false;  // memtrace's: its last sentence and exit code are ours
  ChangesFile changes = {};     // the file for the recommended changes
  bool patch = false;           // print these changes as a patch
  PageOption page = {};         // a page instead of text
  std::string title = {};       // of the page
};

// Runs the search, after that for the ranks of a job, prints the answer on stdout and returns the
// exit code: kDone, kLimitExceeded (it does not fit), kNotKnown (it cannot be told), kUnreadable
// (the program fails by itself, or made too few steps in its time), kUsage, kEnvironment, 128 + n
// after signal n. If it is stopped, it prints what is known.
int RunFitSearch(fit::Question question, const FitOutput& output);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_TRIALS_H_
