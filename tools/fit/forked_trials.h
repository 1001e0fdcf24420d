// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FORKED_TRIALS_H_
#define MEMTRACE_TOOLS_FIT_FORKED_TRIALS_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tools/fit/answer/answer.h"
#include "tools/fit/forks/fork_server.h"
#include "tools/fit/trials/running_trial.h"
#include "tools/fit/trials/trial.h"

namespace memtrace::fit {

// True if the run had the peaks that `started`, a run of the same trial for at least as many steps,
// had in the same steps.
bool HasPeaksOf(const Outcome& started, const Outcome& run);

// Decides which runs of a search are forked from a process that has imported the libraries of the
// program (docs/design/whole-job.md, "Forked trials"). The first two runs are started, because a
// search may need no others. Then the first is repeated as a fork. If its peaks differ, all others
// are started.
class ForkedTrials {
 public:
  // `folder` is made for the process.
  explicit ForkedTrials(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Notes a run that was started and took `folder`, which still has its files.
  void NoteStarted(const Trial& trial, const Outcome& outcome, const std::filesystem::path& folder);

  // True if it is known whether the trial is forked, from a process that is there, or started.
  bool IsDecided(const Trial& trial, const FileKeeping& keeping) const;

  // Returns the process from which the trial can be forked; null if it must be started.
  ForkServer* ServerFor(const Trial& trial, const FileKeeping& keeping);

  // Returns the trial to fork before any other; nothing if its peaks are known to be equal.
  std::optional<Trial> Proof() const;

  // Notes the outcome of that trial; nothing if it could not be forked.
  void NoteProof(const std::optional<Outcome>& outcome);

  // Notes that a run was forked.
  void NoteForked() { ++use_.runs; }

  const ForkUse& use() const { return use_; }

 private:
  bool CanFork(const Trial& trial, const FileKeeping& keeping) const;
  void Start(const FileKeeping& keeping);
  void Refuse(std::string why);

  enum class State : uint8_t { kNotStarted, kNotProven, kProven, kRefused };

  std::filesystem::path folder_;
  State state_ = State::kNotStarted;
  uint64_t started_ = 0;  // runs
  std::optional<Trial> first_;
  Outcome first_outcome_;
  std::unique_ptr<ForkServer> server_;
  ForkUse use_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FORKED_TRIALS_H_
