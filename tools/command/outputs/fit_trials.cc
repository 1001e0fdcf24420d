// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/fit_trials.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/command/outputs/trial_outcome.h"
#include "tools/command/program/program.h"
#include "tools/report/words/quantity.h"

namespace memtrace::command {
namespace {

constexpr std::string_view kTakeBack = "\r\033[K";

bool FailsForOtherReason(const fit::Outcome& outcome) {
  return !outcome.completed && !outcome.is_late && !outcome.Failed();
}

std::string DescribeEnd(const fit::Outcome& outcome) {
  if (outcome.is_late) return Message("reached its time limit");
  if (const auto failed = outcome.Failed())
    return failed->line.empty() ? Message("out of memory")
                                : Message("out of memory at $0", failed->line);
  if (!outcome.completed) return Message("fails");
  if (outcome.would_run_out)
    return Message("completes, but all batches of a moment, of which few ran, do not fit");
  if (outcome.outlook.is_whole) return Message("completes");
  const uint64_t steps = outcome.outlook.steps;
  if (outcome.fits())
    return CountedMessage(steps, "nothing fails in 1 step", "nothing fails in $0 steps",
                          report::FormatCount(steps));
  if (outcome.outlook.climb && outcome.outlook.climb->is_of_floor)
    return Message("nothing fails in $0 steps, but the memory in use grows",
                   report::FormatCount(steps));
  return CountedMessage(steps, "nothing fails in 1 step, but the peak rises",
                        "nothing fails in $0 steps, but the peak rises",
                        report::FormatCount(steps));
}

std::string EndText(const fit::Outcome& outcome) {
  return Message("$0 ($1)", DescribeEnd(outcome),
                 report::FormatSeconds(static_cast<uint64_t>(outcome.seconds * 1e9)));
}

// Adds the files of a folder, if it exists, to another, unless that has newer ones. Sizes that are
// lost are measured again.
void CopyFolder(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(from, ignored)) return;
  fs::create_directories(to, ignored);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::update_existing, ignored);
}

void RemoveFolder(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace

void FitTrials::PrintTrialBegin(std::string_view name) const {
  if (progress_ == Progress::kNothing) return;
  std::cerr << "memtrace: " << name << " ..." << std::flush;
}

void FitTrials::PrintTrialEnd(std::string_view name, const std::string& end) const {
  if (progress_ == Progress::kNothing) return;
  if (progress_ == Progress::kTerminal) std::cerr << kTakeBack << "memtrace: " << name << ":";
  std::cerr << " " << end << '\n';
}

absl::StatusOr<fit::Outcome> FitTrials::Run(const fit::Trial& trial, std::string_view name) {
  absl::StatusOr<fit::Outcome> outcome = RunOnce(trial, name);
  const bool may_be_layers = outcome.ok() && FailsForOtherReason(*outcome) &&
                             keeping_.layer_bytes > 0 &&
                             (keeping_.has_own_users || outcome->kept_away.is_full);
  if (!may_be_layers) return outcome;
  const fit::FileKeeping layer = std::exchange(
      keeping_,
      {.why_no_layer = Message("a run failed with a layer, and did not fail without it")});
  WillRun({});  // those that were begun have a layer
  absl::StatusOr<fit::Outcome> without =
      RunOnce(trial, Message("$0, without a layer over its files", name));
  if (!without.ok() || FailsForOtherReason(*without)) keeping_ = layer;
  return without;
}

void FitTrials::WillRun(const std::vector<fit::Trial>& trials) {
  next_ = trials;
  trials_.KeepOnly(trials);
}

absl::Status FitTrials::Begin(const fit::Trial& trial, fit::ForkServer* server) {
  const std::filesystem::path folder = folder_ / std::to_string(++number_);
  CopyFolder(folder_ / fit::kSizesFolder, folder / fit::kSizesFolder);
  return trials_.Begin(trial, folder, keeping_, server);
}

// Begins the next of the trials that will be run, if there is one, it is known how it runs, and the
// host has memory for it.
void FitTrials::BeginNext() {
  const auto next = std::find_if(next_.begin(), next_.end(), [this](const fit::Trial& trial) {
    return !trials_.HasBegun(trial);
  });
  const bool may_begin = !runs_alone_ && next != next_.end() && trials_.HasRoom() &&
                         fit::MayRunBesideOthers(*next, keeping_) &&
                         forks_.IsDecided(*next, keeping_);
  if (!may_begin) return;
  if (!Begin(*next, forks_.ServerFor(*next, keeping_)).ok()) next_.erase(next);
}

absl::StatusOr<FitTrials::Finished> FitTrials::Finish(const fit::Trial& trial) {
  absl::StatusOr<Finished> finished = trials_.Finish(trial);
  if (!finished.ok()) return finished;
  CopyFolder(finished->folder / fit::kSizesFolder, folder_ / fit::kSizesFolder);
  asked_to_stop_ = finished->result.asked_to_stop;
  return finished;
}

// Returns the process to fork the trial from, once it is proven that forked runs need the same;
// null if the trial is to be started.
fit::ForkServer* FitTrials::ServerFor(const fit::Trial& trial) {
  fit::ForkServer* server = forks_.ServerFor(trial, keeping_);
  const std::optional<fit::Trial> proof = forks_.Proof();
  if (server == nullptr || !proof) return server;
  trials_.WaitForAll();
  std::optional<fit::Outcome> outcome;
  if (Begin(*proof, server).ok()) {
    const absl::StatusOr<Finished> finished = Finish(*proof);
    if (finished.ok() && finished->result.is_forked)
      outcome = ReadOutcome(finished->result, *proof);
    if (finished.ok()) RemoveFolder(finished->folder);
  }
  forks_.NoteProof(outcome);
  return forks_.ServerFor(trial, keeping_);
}

// Runs the trial, or waits for it if it was begun. Meanwhile those are begun that come after it.
absl::StatusOr<FitTrials::Finished> FitTrials::RunToEnd(const fit::Trial& trial) {
  std::erase(next_, trial);
  if (!trials_.HasBegun(trial)) {
    fit::ForkServer* server = ServerFor(trial);
    if (asked_to_stop_ != 0) return absl::CancelledError(Message("stopped"));
    trials_.WaitForRoom();
    MEMTRACE_RETURN_IF_ERROR(Begin(trial, server));
  }
  BeginNext();
  absl::StatusOr<Finished> finished = Finish(trial);
  if (asked_to_stop_ == 0) BeginNext();  // while this one's trace is read
  return finished;
}

// Reads what became of the trial and notes it as the latest.
fit::Outcome FitTrials::Take(const Finished& finished, const fit::Trial& trial,
                             std::string_view name) {
  const fit::TrialResult& result = finished.result;
  opened_.insert(result.opened.begin(), result.opened.end());
  latest_ = {
      .name = std::string(name), .outcome = ReadOutcome(result, trial), .is_late = result.is_late};
  if (result.is_forked) {
    forks_.NoteForked();
  } else {
    forks_.NoteStarted(trial, latest_.outcome, finished.folder);
  }
  log_end_ = latest_.outcome.log_end;
  exit_code_ = latest_.outcome.exit_code;
  RemoveFolder(finished.folder);
  return latest_.outcome;
}

// Runs a trial that failed beside another. If it no longer fails, all later ones run alone.
absl::StatusOr<fit::Outcome> FitTrials::RunAlone(const fit::Trial& trial, std::string_view name) {
  trials_.KeepOnly({});
  runs_alone_ = true;
  absl::StatusOr<fit::Outcome> outcome = RunOnce(trial, name);
  runs_alone_ = outcome.ok() && !outcome->is_late && !FailsForOtherReason(*outcome);
  return outcome;
}

absl::StatusOr<fit::Outcome> FitTrials::RunOnce(const fit::Trial& trial, std::string_view name) {
  PrintTrialBegin(name);
  absl::StatusOr<Finished> finished = RunToEnd(trial);
  if (!finished.ok()) {
    PrintTrialEnd(name, asked_to_stop_ != 0 ? Message("stopped") : Message("cannot be run"));
    return finished.status();
  }
  fit::Outcome outcome = Take(*finished, trial, name);
  const bool may_be_others = !finished->was_alone && asked_to_stop_ == 0 &&
                             (outcome.is_late || FailsForOtherReason(outcome));
  if (may_be_others) {
    PrintTrialEnd(name, Message("$0, beside another run", EndText(outcome)));
    return RunAlone(trial, Message("$0, alone", name));
  }
  PrintTrialEnd(name, asked_to_stop_ != 0 ? Message("stopped") : EndText(outcome));
  if (outcome.kept_away.is_full) {
    Note(Message(
        "the run filled the $0 of memory that its files may take; MEMTRACE_FIT_OVERLAY=16GiB gives "
        "it more",
        report::FormatBytes(keeping_.layer_bytes)));
  }
  if (asked_to_stop_ != 0) return absl::CancelledError(Message("stopped"));
  return outcome;
}

}  // namespace memtrace::command
