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

// The user's options and arguments of `memtrace run`.
struct LaunchRequest {
  std::vector<std::string> command;    // the program and its arguments
  std::vector<std::string> cards;      // card specifications; empty: the real cards
  std::string events = "eager";        // or "lazy": when work on simulated cards is done
  std::string output;                  // empty: the process makes a name
  bool force = false;                  // overwrite `output`
  std::string keep;                    // the most that each trace may hold: "256MiB"; empty: all
  bool no_paths = false;               // files, scripts and arguments without their folders
  bool no_source = false;              // no call stacks
  bool keep_secrets = false;           // the command's passwords and tokens as they are
  bool no_trace = false;               // only our allocator; records nothing
  bool cupti = false;                  // also record what the cards do
  bool native_stacks = false;          // record them for every allocation, beside Python's
  std::string allocator = "memtrace";  // or "native"
  // On a simulated card: "on", "off", or a file of the user's with answers for unknown values.
  // Empty: on if they are available; the program runs without them otherwise.
  std::string host_values;
  int machine = 0;                // of a job of several machines, each of which has these cards
  std::string with;               // changes to apply: MEMTRACE_WITH; empty: the environment's
  bool with_what_can_be = false;  // go on if some of them cannot be
  std::string spill;        // host memory for each card's full moments: MEMTRACE_SPILL; empty: none
  std::string plan;         // file that `memtrace plan` wrote; empty: the environment's, if any
  int generate_length = 0;  // tokens that transformers' generate makes; 0: the program's own
};

using Environment = std::map<std::string, std::string>;

// Everything needed to start the process; making it starts nothing.
struct LaunchPlan {
  std::string program;  // file to execute
  std::vector<std::string> arguments;
  Environment environment;
  std::string output;  // absolute; empty as above
  // The file that receives both outputs, with an empty stdin; empty: this process's own three.
  std::string log;
  uint64_t seconds = 0;  // limit after which it and all that it started are ended; 0: none
  bool passes_on_signals = false;  // it tells those that it started to stop
  // Called in the child before it executes the program; may change its environment. An error keeps
  // the program from starting. Empty: nothing is called.
  std::function<absl::Status(Environment&)> prepare;
};

Environment CurrentEnvironment();

// True if MEMTRACE=0 switches memtrace off.
bool IsSwitchedOff(const Environment& environment);

// Checks all that can be checked before the process starts. Returns kInvalidArgument (usage: card,
// script, output), kNotFound or kPermissionDenied (the program), or kFailedPrecondition (memtrace's
// own installation), each with a sentence that says what to do. If memtrace is switched off, only
// the program is looked up.
absl::StatusOr<LaunchPlan> PlanLaunch(const LaunchRequest& request, Environment environment);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_LAUNCH_PLAN_H_
