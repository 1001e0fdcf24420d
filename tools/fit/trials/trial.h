// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_TRIAL_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_TRIAL_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/fit/files/file_layer.h"
#include "tools/launch/job_ranks.h"

namespace memtrace::fit {

// One run of a program on simulated cards, for as many steps as its peak needs to settle.
struct Trial {
  std::vector<std::string> command;
  std::vector<std::string> cards;          // values of --card
  std::optional<launch::JobRanks> job;     // its real ranks run together; `cards` of each machine
  std::string allocator = "native";        // or "memtrace"
  std::map<std::string, std::string> set;  // environment beside the user's
  std::string changes;                     // hooks to apply: MEMTRACE_FIT_CHANGES
  std::string host_values;                 // as in launch::LaunchRequest
  std::string stub;               // a Python file that is run before the program's first line
  std::string moments;            // of the whole job: MEMTRACE_FIT_MOMENTS
  std::vector<std::string> also;  // calls that it evaluates once
  bool resumes = false;           // a second run follows, in the same layer, from its checkpoint
  // ... by this command, with the checkpoint for {checkpoint}; empty: by the frameworks' own way.
  std::string resumed_by;
  uint64_t least_steps = 2;
  uint64_t most_steps = 8;
  std::string batch_order = "largest";  // of DataLoaders; or "as-is"
  uint64_t measure_seconds = 10;        // limit for measuring the items of a data set
  uint64_t watch_seconds = 0;           // limit from its first step on, for any number of steps
  uint64_t seconds = 600;               // limit for the whole run

  bool operator==(const Trial&) const = default;
};

struct TrialResult {
  int exit_code = 0;
  bool is_late = false;             // ended at its time limit
  int asked_to_stop = 0;            // the signal that asked this process to stop; 0: none
  std::vector<std::string> traces;  // its processes' traces, the first one's first
  std::filesystem::path log;        // its output
  double seconds = 0;  // until its end was noticed: beside another run, when that had ended
  std::optional<LayerContents> layer;  // files that it wrote; nothing: it had no layer
  std::set<std::string> saves;         // checkpoints among these, whose bytes were not written
  std::set<std::string> opened;        // without a layer: files of the user's opened for writing
  std::vector<TrialResult> resumed;    // the run that resumed from its checkpoint, if there was one
  bool is_forked = false;              // from a process that had imported its libraries
  uint64_t host_bytes = 0;             // the most host memory that one of its processes held
};

// A folder in the trial's own, in which its processes keep the sizes of items for later trials.
inline constexpr const char* kSizesFolder = "sizes";
// A file in the trial's folder that lists what it had imported when it first used CUDA.
inline constexpr const char* kImportsFile = "imports.json";

// True if the trial can be forked from a process that has imported its libraries, as far as the
// trial tells: one process with a layer, and MEMTRACE_FIT_FORKS is not 0.
bool MayBeForked(const Trial& trial, const FileKeeping& keeping);

// True if the trial may run while others do: one process with a layer over its files.
bool MayRunBesideOthers(const Trial& trial, const FileKeeping& keeping);

// Returns the bytes of each card, by its number; of a job, of each rank's card, by rank.
std::vector<uint64_t> CardBytesOf(const Trial& trial);

// Returns what other processes hold of each of these cards.
std::vector<uint64_t> OthersOf(const Trial& trial);

// Returns the last lines of a trial's output.
std::string LogEnd(const TrialResult& result, size_t lines);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_TRIAL_H_
