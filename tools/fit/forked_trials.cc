// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/forked_trials.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/trials/card_limit.h"
#include "tools/launch/program_file.h"

namespace memtrace::fit {
namespace {

constexpr uint64_t kFirstStarted = 2;  // runs that are started before any is forked
// Forks save the imports of each further run, and cost one more run, for the proof. They are not
// worth it if they would not make up for that in so many runs.
constexpr double kMostRunsToSaveOne = 6;

// Returns the seconds of a run that has just ended until it wrote the file; 0 if it is not there.
double SecondsUntilWritten(const std::filesystem::path& file, double seconds) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  if (error) return 0;
  const auto since = std::filesystem::file_time_type::clock::now() - written;
  return seconds - std::chrono::duration<double>(since).count();
}

// Returns about how long the repeated trial will take.
double SecondsOf(const Trial& repeated, const Outcome& seen) {
  const uint64_t steps = std::min(repeated.least_steps, seen.outlook.steps);
  return seen.seconds - seen.seconds_a_step() * static_cast<double>(seen.outlook.steps - steps);
}

std::vector<PeakRise> UntilStep(std::vector<PeakRise> rises, uint64_t step) {
  std::erase_if(rises, [step](const PeakRise& rise) { return rise.step > step; });
  return rises;
}

bool HasPeaksOf(const CardNeed& started, const CardNeed& run, uint64_t steps, bool is_as_long) {
  return started.card == run.card && UntilStep(started.rises, steps) == run.rises &&
         UntilStep(started.floors, steps) == run.floors &&
         (is_as_long ? started.peak_reserved == run.peak_reserved
                     : started.peak_reserved >= run.peak_reserved);
}

bool HasPeaksOf(const ProcessNeed& started, const ProcessNeed& run) {
  return run.steps <= started.steps &&
         std::equal(started.cards.begin(), started.cards.end(), run.cards.begin(), run.cards.end(),
                    [&](const CardNeed& a, const CardNeed& b) {
                      return HasPeaksOf(a, b, run.steps, run.steps == started.steps);
                    });
}

// Returns the words of a command up to its script; none if it is not `python SCRIPT`.
std::vector<std::string> UpToScript(const std::vector<std::string>& command) {
  const std::optional<std::string> script = launch::PythonScript(command);
  if (!script) return {};
  const auto word = std::find(command.begin() + 1, command.end(), *script);
  return word == command.end() ? std::vector<std::string>()
                               : std::vector(command.begin(), word + 1);
}

}  // namespace

bool HasPeaksOf(const Outcome& started, const Outcome& run) {
  return run.completed &&
         std::equal(started.processes.begin(), started.processes.end(), run.processes.begin(),
                    run.processes.end(),
                    [](const ProcessNeed& a, const ProcessNeed& b) { return HasPeaksOf(a, b); });
}

void ForkedTrials::NoteStarted(const Trial& trial, const Outcome& outcome,
                               const std::filesystem::path& folder) {
  ++started_;
  if (first_ || started_ > 1) return;
  const double imports = SecondsUntilWritten(folder / kImportsFile, outcome.seconds);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  std::filesystem::rename(folder / kImportsFile, folder_ / kImportsFile, error);
  const bool is_alone = outcome.completed && outcome.processes.size() == 1;
  if (error || !is_alone || UpToScript(trial.command).empty()) return;
  const Trial repeated = UntilAfterPeakOf(trial, outcome);
  if (imports * kMostRunsToSaveOne < SecondsOf(repeated, outcome))
    return Refuse(Message("the imports are a small part of a run"));
  first_ = repeated;
  first_outcome_ = outcome;
}

bool ForkedTrials::CanFork(const Trial& trial, const FileKeeping& keeping) const {
  return MayBeForked(trial, keeping) && trial.allocator == first_->allocator &&
         UpToScript(trial.command) == UpToScript(first_->command) &&
         CardBytesOf(trial).size() == CardBytesOf(*first_).size();
}

bool ForkedTrials::IsDecided(const Trial& trial, const FileKeeping& keeping) const {
  const bool is_settled = !first_ || state_ == State::kProven || state_ == State::kRefused;
  return started_ >= kFirstStarted && (is_settled || !CanFork(trial, keeping));
}

ForkServer* ForkedTrials::ServerFor(const Trial& trial, const FileKeeping& keeping) {
  const bool is_wanted = started_ >= kFirstStarted && first_ && state_ != State::kRefused;
  if (!is_wanted || !CanFork(trial, keeping)) return nullptr;
  if (state_ == State::kNotStarted) Start(keeping);
  return server_.get();
}

void ForkedTrials::Start(const FileKeeping& keeping) {
  absl::StatusOr<std::unique_ptr<ForkServer>> server = StartForkServer(*first_, folder_, keeping);
  if (!server.ok()) return Refuse(std::string(server.status().message()));
  state_ = State::kNotProven;
  server_ = *std::move(server);
}

void ForkedTrials::Refuse(std::string why) {
  state_ = State::kRefused;
  use_.why_not = std::move(why);
  server_.reset();
}

std::optional<Trial> ForkedTrials::Proof() const {
  return state_ == State::kNotProven ? first_ : std::nullopt;
}

void ForkedTrials::NoteProof(const std::optional<Outcome>& outcome) {
  if (!outcome) return Refuse(Message("a run could not be forked"));
  if (!HasPeaksOf(first_outcome_, *outcome))
    return Refuse(Message("the peaks of a forked run differ"));
  state_ = State::kProven;
}

}  // namespace memtrace::fit
