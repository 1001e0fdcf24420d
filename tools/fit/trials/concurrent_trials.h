// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_CONCURRENT_TRIALS_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_CONCURRENT_TRIALS_H_

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/forks/fork_server.h"
#include "tools/fit/trials/host_room.h"
#include "tools/fit/trials/running_trial.h"
#include "tools/fit/trials/trial.h"
#include "tools/launch/side_by_side.h"

namespace memtrace::fit {

// Trials that run at the same time. They are begun one by one, and finished in any order
// (docs/design/whole-job.md, "Two runs at a time").
//
// Thread rule: one thread, in a program that has no other.
class ConcurrentTrials {
 public:
  struct Finished {
    TrialResult result;
    std::filesystem::path folder;  // its own, which still has its files
    bool was_alone = true;         // no other trial ran meanwhile
  };

  // At most `most` run at the same time; 1: none is begun before it is asked for.
  explicit ConcurrentTrials(size_t most) : most_(most) {}
  ConcurrentTrials(const ConcurrentTrials&) = delete;
  ConcurrentTrials& operator=(const ConcurrentTrials&) = delete;
  ~ConcurrentTrials();  // ends those that run

  // Begins a trial in a folder that is made for it. Errors are those of RunningTrial::Start.
  absl::Status Begin(const Trial& trial, const std::filesystem::path& folder,
                     const FileKeeping& keeping, ForkServer* server);

  // True if the trial was begun and not yet finished.
  bool HasBegun(const Trial& trial) const { return Find(trial) < runs_.size(); }

  // Waits for the end of a trial that was begun; others go on meanwhile. Errors are those of
  // RunningTrial::NoteEnd.
  absl::StatusOr<Finished> Finish(const Trial& trial);

  // Ends all trials but these, and removes their folders.
  void KeepOnly(const std::vector<Trial>& wanted);

  // True if one more may begin before it is asked for: fewer run than may, and the host has memory
  // for it.
  bool HasRoom() const { return most_ > 1 && IsFree(); }

  // Waits until one more may begin, because it is asked for. One that is alone always may.
  void WaitForRoom();

  // Waits until all that were begun have ended.
  void WaitForAll();

 private:
  struct Run {
    std::unique_ptr<RunningTrial> trial;
    bool was_alone = true;
    bool has_ended = false;
    absl::Status end = {};  // why it could not go on
  };

  size_t Find(const Trial& trial) const;
  bool IsFree() const;
  void WaitForOne();
  void NoteEnd(Run& run, const launch::ExitStatus& status);
  void Drop(Run& run);

  size_t most_;
  launch::SideBySide processes_;
  HostRoom room_;
  std::vector<Run> runs_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_CONCURRENT_TRIALS_H_
