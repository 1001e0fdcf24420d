// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_RUNNING_TRIAL_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_RUNNING_TRIAL_H_

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/forks/fork_server.h"
#include "tools/fit/trials/trial.h"
#include "tools/launch/exit_status.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/written_traces.h"

namespace memtrace::fit {

// A trial that has begun: its process and, if it resumes, the one after it in the same layer.
class RunningTrial {
 public:
  // `folder` is made for its traces and what it writes.
  RunningTrial(Trial trial, std::filesystem::path folder)
      : trial_(std::move(trial)), folder_(std::move(folder)) {}

  // Starts its process, or forks it from `server` if there is one and it can. Errors are those of
  // launch::PlanLaunch; kUnavailable if it cannot start.
  absl::Status Start(const FileKeeping& keeping, ForkServer* server);

  const Trial& trial() const { return trial_; }
  const std::filesystem::path& folder() const { return folder_; }

  // The process to wait for, a child of this one, and the plan that it runs by.
  pid_t process() const { return process_; }
  const launch::LaunchPlan& plan() const { return plan_; }

  // Notes that the process has ended. Returns true if process() is another one now. Errors as of
  // Start().
  absl::StatusOr<bool> NoteEnd(const launch::ExitStatus& end);

  // Returns what became of the trial. Call it once, after NoteEnd() has returned false.
  TrialResult Result();

 private:
  absl::Status Plan(const Trial& trial, const char* name);
  absl::Status StartProcess(ForkServer* server);
  void TakeResult(const launch::ExitStatus& end);

  Trial trial_;
  std::filesystem::path folder_;
  launch::Environment environment_;
  bool has_layer_ = false;
  std::unique_ptr<FileLayer> layer_;
  TrialResult first_;     // of its first process
  bool resumes_ = false;  // process() is the second
  // These are of process().
  launch::LaunchPlan plan_;
  pid_t process_ = -1;
  std::vector<launch::WrittenTraces> traces_;
  std::chrono::steady_clock::time_point begun_;
  TrialResult latest_;
};

// Runs the trial to its end. Errors are those of RunningTrial::Start.
absl::StatusOr<TrialResult> RunTrial(const Trial& trial, const std::filesystem::path& folder,
                                     const FileKeeping& keeping, ForkServer* server = nullptr);

// Starts a process that can fork runs like this trial; `folder` has kImportsFile. Errors are those
// of launch::PlanLaunch and ForkServer::Start.
absl::StatusOr<std::unique_ptr<ForkServer>> StartForkServer(const Trial& trial,
                                                            const std::filesystem::path& folder,
                                                            const FileKeeping& keeping);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_RUNNING_TRIAL_H_
