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
#include "tools/fit/question.h"

namespace memtrace::command {

// What is said on stderr while trials run.
enum class Progress : uint8_t {
  kNothing,
  kLines,     // one a trial: its name when it begins, how it ended behind that
  kTerminal,  // the same, and a name is taken back when its trial has ended
};

// Runs trials in folders of their own, reads what they left, and says on stderr what it does.
class FitTrials {
 public:
  FitTrials(std::filesystem::path folder, fit::FileKeeping keeping, Progress progress)
      : folder_(std::move(folder)), keeping_(std::move(keeping)), progress_(progress) {}

  // Errors: as of fit::RunTrial; kCancelled if we are asked to stop. What fails by itself under a
  // layer that may be the reason is run again without one; if that does not fail, all later trials
  // have none.
  absl::StatusOr<fit::Outcome> Run(const fit::Trial& trial, std::string_view name);

  // How the user's files are kept by now.
  const fit::FileKeeping& keeping() const { return keeping_; }

  // The latest trial.
  const fit::StoppedTrial& latest() const { return latest_; }

  // The last lines of the latest trial, if it failed by itself.
  const std::string& log_end() const { return log_end_; }
  // And its exit code.
  int exit_code() const { return exit_code_; }

  // What the trials opened for writing in the user's folders, where they had no layer.
  const std::set<std::string>& opened() const { return opened_; }

  // The signal by which we were asked to stop; 0: none.
  int asked_to_stop() const { return asked_to_stop_; }

 private:
  absl::StatusOr<fit::Outcome> RunOnce(const fit::Trial& trial, std::string_view name);
  void SayBegin(std::string_view name) const;
  void SayEnd(std::string_view name, const std::string& end) const;

  std::filesystem::path folder_;
  fit::FileKeeping keeping_;
  fit::StoppedTrial latest_;
  std::set<std::string> opened_;
  std::string log_end_;
  Progress progress_;
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
// fit), kNotKnown (it cannot be told), kUnreadable (the program fails by itself, or made too few
// steps in its time), kUsage, kEnvironment, 128 + n after signal n. Who stops it gets what is
// known.
int AskFit(const fit::Question& question, const FitOutput& output);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_TRIALS_H_
