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
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/command/outputs/workplace.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/forked_trials.h"
#include "tools/fit/trials/concurrent_trials.h"

namespace memtrace::command {

// Runs trials in folders of their own, reads their results, and prints progress on stderr.
class FitTrials {
 public:
  // At most `at_once` run at the same time.
  FitTrials(std::filesystem::path folder, fit::FileKeeping keeping, Progress progress,
            size_t at_once = 1)
      : folder_(std::move(folder)),
        keeping_(std::move(keeping)),
        progress_(progress),
        forks_(folder_ / "forks"),
        trials_(at_once) {}

  // Errors are those of fit::RunTrial; kCancelled if memtrace is told to stop. If a program fails
  // by itself under a layer that may be the reason, it is run again without one; if it no longer
  // fails by itself, no later trial has a layer.
  absl::StatusOr<fit::Outcome> Run(const fit::Trial& trial, std::string_view name);

  // Notes the trials that will be run next, the first one first. Those that are not forked from a
  // process that is yet to be made, and for which the host has memory, are run beside others.
  void WillRun(const std::vector<fit::Trial>& trials);

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
  using Finished = fit::ConcurrentTrials::Finished;

  absl::StatusOr<fit::Outcome> RunOnce(const fit::Trial& trial, std::string_view name);
  absl::StatusOr<fit::Outcome> RunAlone(const fit::Trial& trial, std::string_view name);
  absl::StatusOr<Finished> RunToEnd(const fit::Trial& trial);
  absl::StatusOr<Finished> Finish(const fit::Trial& trial);
  absl::Status Begin(const fit::Trial& trial, fit::ForkServer* server);
  void BeginNext();
  fit::ForkServer* ServerFor(const fit::Trial& trial);
  fit::Outcome Take(const Finished& finished, const fit::Trial& trial, std::string_view name);
  void PrintTrialBegin(std::string_view name) const;
  void PrintTrialEnd(std::string_view name, const std::string& end) const;

  std::filesystem::path folder_;
  fit::FileKeeping keeping_;
  fit::StoppedTrial latest_;
  std::set<std::string> opened_;
  std::string log_end_;
  Progress progress_;
  fit::ForkedTrials forks_;
  fit::ConcurrentTrials trials_;
  std::vector<fit::Trial> next_;  // will be run after the present one
  bool runs_alone_ = false;       // none beside another
  int number_ = 0;
  int exit_code_ = 0;
  int asked_to_stop_ = 0;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_TRIALS_H_
