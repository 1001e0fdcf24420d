// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FORKS_FORK_SERVER_H_
#define MEMTRACE_TOOLS_FIT_FORKS_FORK_SERVER_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/files/file_layer.h"
#include "tools/launch/child_process.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::fit {

// A process that has imported the libraries of a program and forks a run of the program for each
// request (interpose/python/memtrace/_forks). A run that it forks is a child of this process, like
// one that this process starts. Call from a program with one thread.
class ForkServer {
 public:
  // Starts the process in the layer. It runs as `plan` says but stops before the program's first
  // line. Waits until it has imported what the plan's MEMTRACE_FIT_IMPORTS lists. Returns
  // kUnavailable with the reason if its children would not be like a run that is started.
  static absl::StatusOr<std::unique_ptr<ForkServer>> Start(launch::LaunchPlan plan,
                                                           std::unique_ptr<FileLayer> layer);

  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  ~ForkServer();  // ends the process

  // True if the process has answered and a run by this plan is alike up to the options of the
  // script: its environment differs only in memtrace's own variables and in the temporary folder.
  bool CanRun(const launch::LaunchPlan& plan) const;

  // Makes the layer and forks a run into it, for launch::WaitForEnd. Returns kUnavailable if it has
  // not begun; the layer may have been made then.
  absl::StatusOr<pid_t> Fork(const launch::LaunchPlan& plan, FileLayer& layer);

 private:
  ForkServer(launch::LaunchPlan plan, std::unique_ptr<FileLayer> layer, int socket, pid_t process);

  absl::StatusOr<pid_t> ForkInto(const FileLayer& layer, const launch::LaunchPlan& plan);

  launch::LaunchPlan plan_;
  std::unique_ptr<FileLayer> layer_;
  int socket_;
  pid_t process_;
  bool answers_ = true;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FORKS_FORK_SERVER_H_
