// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIAL_H_
#define MEMTRACE_TOOLS_FIT_TRIAL_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/fit/files/file_layer.h"

namespace memtrace::fit {

// One run of a program on simulated cards, for as many steps as its peak needs to settle.
struct Trial {
  std::vector<std::string> command;
  std::vector<std::string> cards;          // values of --card
  std::string allocator = "native";        // or "memtrace"
  std::map<std::string, std::string> set;  // environment beside the user's
  std::string changes;                     // of calls: MEMTRACE_FIT_CHANGES
  std::string host_values;                 // as launch::LaunchRequest has it
  std::string stub;  // a Python file that is run before the program's first line
  uint64_t least_steps = 2;
  uint64_t most_steps = 8;
  uint64_t watch_seconds = 0;  // from its first step on, however many steps those are
  uint64_t seconds = 600;      // after which it is ended
};

struct TrialResult {
  int exit_code = 0;
  bool is_late = false;             // ended at its limit of time
  int asked_to_stop = 0;            // the signal by which we were, meanwhile; 0: none
  std::vector<std::string> traces;  // of its processes, the first one's first
  std::filesystem::path log;        // what it printed
  double seconds = 0;
  std::optional<LayerContents> layer;  // what it wrote; nothing: it had none
  std::set<std::string> saves;         // of these: checkpoints, of which no bytes were written
  std::set<std::string> opened;        // without a layer: opened for writing in the user's folders
};

// `folder`: for its traces and what it writes; made. Errors: as of launch::PlanLaunch; kUnavailable
// if it cannot start.
absl::StatusOr<TrialResult> RunTrial(const Trial& trial, const std::filesystem::path& folder,
                                     const FileKeeping& keeping);

// The last lines of what a trial printed.
std::string LogEnd(const TrialResult& result, size_t lines);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIAL_H_
