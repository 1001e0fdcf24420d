// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_LAUNCH_PLAN_H_
#define MEMTRACE_TOOLS_LAUNCH_LAUNCH_PLAN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memtrace::launch {

// What the user asked of `memtrace run`.
struct LaunchRequest {
  std::vector<std::string> command;    // the program and its arguments
  std::vector<std::string> cards;      // card specifications; empty: the real cards
  std::string events = "eager";        // or "lazy": when work on simulated cards is done
  std::string output;                  // empty: the process makes a name
  bool force = false;                  // overwrite `output`
  std::string keep;                    // of each trace, at most so much: "256MiB"; empty: all
  bool no_paths = false;               // files, scripts and arguments without their folders
  bool no_source = false;              // no call stacks
  bool keep_secrets = false;           // the command's passwords and tokens as they are
  bool no_trace = false;               // our allocator alone, nothing recorded
  bool cupti = false;                  // record what the cards do, too
  bool native_stacks = false;          // of every allocation, beside Python's
  std::string allocator = "memtrace";  // or "native"
  // On a simulated card: "on", "off", or a file of the user's with answers for unknown values.
  // Empty: on where they can be had, which is no reason to refuse the program.
  std::string host_values;
  std::string plan;         // file that `memtrace plan` wrote; empty: the environment's, if any
  int generate_length = 0;  // tokens that transformers' generate makes; 0: the program's own
};

using Environment = std::map<std::string, std::string>;

// Everything needed to start the process; nothing of it has happened yet.
struct LaunchPlan {
  std::string program;  // file to execute
  std::vector<std::string> arguments;
  Environment environment;
  std::string output;  // absolute; empty as above
  // Where both outputs go, and nothing is there to be read; empty: as those of this process.
  std::string log;
  uint64_t seconds = 0;  // after which it is ended with all that it started; 0: never
  // What the child does before it executes the program, whose environment it may change; an error
  // keeps it from starting. Empty: nothing.
  std::function<absl::Status(Environment&)> prepare;
};

Environment CurrentEnvironment();

// Whether MEMTRACE=0 switches memtrace off.
bool IsSwitchedOff(const Environment& environment);

// Checks all that can be checked before the process starts. Errors: kInvalidArgument (usage: card,
// script, output), kNotFound and kPermissionDenied (the program), kFailedPrecondition (memtrace's
// own installation), each with a sentence that says what to do. With memtrace switched off only the
// program is looked up.
absl::StatusOr<LaunchPlan> PlanLaunch(const LaunchRequest& request, Environment environment);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_LAUNCH_PLAN_H_
