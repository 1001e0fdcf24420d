// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trial.h"

#include <chrono>
#include <deque>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/environment.h"
#include "messages/message.h"
#include "tools/fit/card_limit.h"
#include "tools/launch/child_process.h"
#include "tools/launch/job_process.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/written_traces.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

launch::LaunchRequest RequestOf(const Trial& trial, const fs::path& folder) {
  launch::LaunchRequest request;
  request.command = trial.command;
  request.cards = trial.cards;
  request.allocator = trial.allocator;
  request.host_values = trial.host_values;
  request.output = (folder / "run.trace").string();
  request.force = true;
  return request;
}

// Sets the variables that direct the Python package in a trial (docs/design/fit.md).
void AddTrial(const Trial& trial, launch::Environment& environment) {
  // The trial's end in seconds of CLOCK_MONOTONIC, which is Python's time.monotonic().
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::steady_clock::now().time_since_epoch());
  environment[env::kFitEnds.name()] =
      std::to_string(static_cast<uint64_t>(now.count()) + trial.seconds);
  environment[env::kFitSteps.name()] = absl::StrCat(trial.least_steps, ":", trial.most_steps);
  environment[env::kFitWatch.name()] = std::to_string(trial.watch_seconds);
  environment.erase(env::kFitChanges.name());
  environment.erase(env::kFitStub.name());
  environment.erase(env::kWith.name());  // a trial has its own changes
  if (!trial.stub.empty()) environment[env::kFitStub.name()] = trial.stub;
  if (!trial.changes.empty()) environment[env::kFitChanges.name()] = trial.changes;
}

// Selects how its writes are kept from the user's files: by a layer, else by the Python package.
void AddFiles(const fs::path& folder, bool has_layer, launch::Environment& environment) {
  environment.erase(env::kFitScratch.name());
  environment.erase(env::kFitSaves.name());
  if (!has_layer) {
    environment[env::kFitScratch.name()] = (folder / "files").string();
    return;
  }
  environment[env::kFitSaves.name()] = (folder / "saves").string();
  environment["TMPDIR"] = (folder / kTemporaryFolder).string();
}

// Returns the figures of cards as those of each rank's card, if the trial is a job's.
std::vector<uint64_t> ByRank(const Trial& trial, std::vector<uint64_t> of_cards) {
  if (!trial.job || of_cards.empty()) return of_cards;
  std::vector<uint64_t> of_ranks;
  of_ranks.reserve(static_cast<size_t>(trial.job->world));
  for (int rank = 0; rank < trial.job->world; ++rank)
    of_ranks.push_back(of_cards[static_cast<size_t>(trial.job->CardOf(rank)) % of_cards.size()]);
  return of_ranks;
}

// Watches for the traces of a run that is about to begin.
std::vector<launch::WrittenTraces> WatchTraces(const Trial& trial,
                                               const launch::LaunchRequest& request,
                                               const launch::LaunchPlan& plan) {
  if (trial.job) return launch::WatchTracesOf(request, *trial.job);
  return {launch::WrittenTraces(plan.output)};
}

std::vector<std::string> Found(const std::vector<launch::WrittenTraces>& traces) {
  std::vector<std::string> found;
  for (const launch::WrittenTraces& of : traces)
    for (std::string& trace : of.Find()) found.push_back(std::move(trace));
  return found;
}

// Returns the names of files that its processes listed, one a line.
std::set<std::string> ListedIn(const fs::path& list) {
  std::set<std::string> names;
  std::ifstream file(list);
  for (std::string name; std::getline(file, name);) names.insert(name);
  return names;
}

}  // namespace

absl::StatusOr<TrialResult> RunTrial(const Trial& trial, const fs::path& folder,
                                     const FileKeeping& keeping) {
  std::error_code error;
  fs::create_directories(folder / "files", error);
  if (error)
    return absl::UnavailableError(Message("cannot make $0: $1", folder.string(), error.message()));
  launch::Environment environment = launch::CurrentEnvironment();
  for (const auto& [name, value] : trial.set) environment[name] = value;
  AddTrial(trial, environment);
  const bool has_layer = keeping.layer_bytes > 0;
  AddFiles(folder, has_layer, environment);
  const FileLayer layer(environment, folder.string(), keeping.layer_bytes);
  const launch::LaunchRequest request = RequestOf(trial, folder);
  absl::StatusOr<launch::LaunchPlan> plan =
      trial.job ? launch::PlanJob(request, *trial.job, std::move(environment))
                : launch::PlanLaunch(request, std::move(environment));
  if (!plan.ok()) return plan.status();
  TrialResult result;
  result.log = folder / "log.txt";
  plan->log = result.log.string();
  plan->seconds = trial.seconds;
  if (has_layer) plan->prepare = [&layer](launch::Environment& set) { return layer.Enter(set); };
  const std::vector<launch::WrittenTraces> traces = WatchTraces(trial, request, *plan);
  const auto begun = std::chrono::steady_clock::now();
  const absl::StatusOr<launch::ExitStatus> status = launch::RunToEnd(*plan);
  if (!status.ok()) return status.status();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  result.exit_code = status->code;
  result.is_late = status->is_late;
  result.asked_to_stop = status->asked_to_stop;
  result.traces = Found(traces);
  result.layer = layer.Contents();
  result.saves = ListedIn(folder / "saves");
  result.opened = ListedIn(folder / "files" / ".opened");
  return result;
}

std::vector<uint64_t> CardBytesOf(const Trial& trial) {
  return ByRank(trial, BytesOfCards(trial.cards));
}

std::vector<uint64_t> OthersOf(const Trial& trial) {
  return ByRank(trial, OthersOfCards(trial.cards));
}

std::string LogEnd(const TrialResult& result, size_t lines) {
  std::ifstream log(result.log);
  std::deque<std::string> last;
  for (std::string line; std::getline(log, line);) {
    last.push_back(line);
    if (last.size() > lines) last.pop_front();
  }
  std::string text;
  for (const std::string& line : last) text += line + "\n";
  return text;
}

}  // namespace memtrace::fit
