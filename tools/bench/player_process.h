// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_PLAYER_PROCESS_H_
#define MEMTRACE_TOOLS_BENCH_PLAYER_PROCESS_H_

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::bench {

// A process that answers lines with lines; it ends with this object, and with this process.
class PlayerProcess {
 public:
  // Returns kUnavailable if it cannot start. It shares this process's stderr.
  static absl::StatusOr<std::unique_ptr<PlayerProcess>> Start(const launch::LaunchPlan& plan);

  PlayerProcess(pid_t process, int input, int output);
  ~PlayerProcess();
  PlayerProcess(const PlayerProcess&) = delete;
  PlayerProcess& operator=(const PlayerProcess&) = delete;

  // Returns the next line of the process, without its end. kUnavailable: it has ended.
  absl::StatusOr<std::string> Read();
  // Sends a line and returns the answer.
  absl::StatusOr<std::string> Ask(const std::string& line);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  pid_t process_;
  std::unique_ptr<std::FILE, Closer> input_;
  std::unique_ptr<std::FILE, Closer> output_;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_PLAYER_PROCESS_H_
