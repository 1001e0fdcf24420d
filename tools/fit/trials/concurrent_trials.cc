// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/concurrent_trials.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "base/status_macros.h"

namespace memtrace::fit {
namespace {

constexpr std::chrono::milliseconds kBetweenSamples(100);  // of what a run takes of the host

}  // namespace

ConcurrentTrials::~ConcurrentTrials() { KeepOnly({}); }

absl::Status ConcurrentTrials::Begin(const Trial& trial, const std::filesystem::path& folder,
                                     const FileKeeping& keeping, ForkServer* server) {
  if (processes_.size() == 0) room_.Begin();
  auto begun = std::make_unique<RunningTrial>(trial, folder);
  MEMTRACE_RETURN_IF_ERROR(begun->Start(keeping, server));
  processes_.Add(begun->process(), begun->plan());
  const bool is_alone = processes_.size() == 1;
  for (Run& run : runs_)
    if (!run.has_ended) run.was_alone = false;
  runs_.push_back({.trial = std::move(begun), .was_alone = is_alone});
  return absl::OkStatus();
}

absl::StatusOr<ConcurrentTrials::Finished> ConcurrentTrials::Finish(const Trial& trial) {
  const size_t place = Find(trial);
  while (!runs_[place].has_ended) WaitForOne();
  const Run run = std::move(runs_[place]);
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(place));
  MEMTRACE_RETURN_IF_ERROR(run.end);
  Finished finished{
      .result = run.trial->Result(), .folder = run.trial->folder(), .was_alone = run.was_alone};
  if (finished.was_alone) room_.NoteHeld(finished.result.host_bytes);
  return finished;
}

void ConcurrentTrials::KeepOnly(const std::vector<Trial>& wanted) {
  const auto is_unwanted = [&wanted](const Run& run) {
    return std::find(wanted.begin(), wanted.end(), run.trial->trial()) == wanted.end();
  };
  for (Run& run : runs_)
    if (is_unwanted(run)) Drop(run);
  std::erase_if(runs_, is_unwanted);
}

void ConcurrentTrials::WaitForRoom() {
  while (processes_.size() > 0 && !IsFree()) WaitForOne();
}

void ConcurrentTrials::WaitForAll() {
  while (processes_.size() > 0) WaitForOne();
}

bool ConcurrentTrials::IsFree() const {
  return processes_.size() < most_ && room_.HasRoomBeside(processes_.size());
}

// Returns the place of the trial's run; that after the last if it has none.
size_t ConcurrentTrials::Find(const Trial& trial) const {
  const auto found = std::find_if(runs_.begin(), runs_.end(),
                                  [&trial](const Run& run) { return run.trial->trial() == trial; });
  return static_cast<size_t>(found - runs_.begin());
}

// Waits until a process has ended. While one is alone, looks at what it takes of the host.
void ConcurrentTrials::WaitForOne() {
  const bool is_alone = processes_.size() == 1;
  const auto ended = processes_.Wait(
      is_alone ? std::optional<launch::Clock::duration>(kBetweenSamples) : std::nullopt);
  if (!ended) return room_.Sample();
  for (Run& run : runs_)
    if (!run.has_ended && run.trial->process() == ended->process)
      return NoteEnd(run, ended->status);
}

void ConcurrentTrials::NoteEnd(Run& run, const launch::ExitStatus& status) {
  const absl::StatusOr<bool> goes_on = run.trial->NoteEnd(status);
  if (goes_on.ok() && *goes_on) return processes_.Add(run.trial->process(), run.trial->plan());
  run.has_ended = true;
  run.end = goes_on.status();
}

void ConcurrentTrials::Drop(Run& run) {
  if (!run.has_ended) processes_.Kill(run.trial->process());
  run.has_ended = true;
  std::error_code ignored;
  std::filesystem::remove_all(run.trial->folder(), ignored);
}

}  // namespace memtrace::fit
