// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/trial.h"

#include <chrono>
#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "base/environment.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/trials/card_limit.h"
#include "tools/fit/trials/resumed_trial.h"
#include "tools/fit/trials/trial_environment.h"
#include "tools/launch/child_process.h"
#include "tools/launch/job_process.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/written_traces.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpointFile = "checkpoint.json";  // of the trial's folder

launch::LaunchRequest RequestOf(const Trial& trial, const fs::path& output) {
  launch::LaunchRequest request;
  request.command = trial.command;
  request.cards = trial.cards;
  request.allocator = trial.allocator;
  request.host_values = trial.host_values;
  request.output = output.string();
  request.force = true;
  return request;
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

// Plans one process, or one job, whose trace and output are named `name`.
absl::StatusOr<launch::LaunchPlan> PlanOnce(const Trial& trial, const fs::path& folder,
                                            const std::string& name,
                                            launch::Environment environment) {
  SetTask(trial, environment);
  environment[env::kFitCheckpoint.name()] = (folder / kCheckpointFile).string();
  const launch::LaunchRequest request = RequestOf(trial, folder / (name + ".trace"));
  absl::StatusOr<launch::LaunchPlan> plan =
      trial.job ? launch::PlanJob(request, *trial.job, std::move(environment))
                : launch::PlanLaunch(request, std::move(environment));
  if (!plan.ok()) return plan;
  plan->log = (folder / (name + ".txt")).string();
  plan->seconds = trial.seconds;
  return plan;
}

// Forks the run into its layer. If that fails, starts it there.
absl::StatusOr<launch::ExitStatus> RunForked(ForkServer& server, launch::LaunchPlan plan,
                                             FileLayer& layer, bool& is_forked) {
  absl::StatusOr<launch::ExitStatus> status = server.RunToEnd(plan, layer);
  is_forked = status.ok();
  if (is_forked) return status;
  if (layer.mounts() >= 0)
    plan.prepare = [&layer](launch::Environment& set) { return layer.EnterAgain(set); };
  return launch::RunToEnd(plan);
}

// Runs what was planned; from `server`, if there is one.
absl::StatusOr<TrialResult> RunOnce(const Trial& trial, const launch::LaunchPlan& plan,
                                    ForkServer* server, FileLayer& layer) {
  TrialResult result;
  result.log = plan.log;
  const launch::LaunchRequest request = RequestOf(trial, plan.output);
  const std::vector<launch::WrittenTraces> traces = WatchTraces(trial, request, plan);
  const auto begun = std::chrono::steady_clock::now();
  const absl::StatusOr<launch::ExitStatus> status =
      server != nullptr && server->CanRun(plan) ? RunForked(*server, plan, layer, result.is_forked)
                                                : launch::RunToEnd(plan);
  if (!status.ok()) return status.status();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  result.exit_code = status->code;
  result.is_late = status->is_late;
  result.asked_to_stop = status->asked_to_stop;
  result.traces = Found(traces);
  return result;
}

// Makes the folder of a trial. Returns the environment of its processes before it is planned.
absl::StatusOr<launch::Environment> MakePlace(const Trial& trial, const fs::path& folder,
                                              const FileKeeping& keeping) {
  std::error_code error;
  fs::create_directories(folder / "files", error);
  if (error)
    return absl::UnavailableError(Message("cannot make $0: $1", folder.string(), error.message()));
  launch::Environment environment = launch::CurrentEnvironment();
  SetPlace(trial, folder, keeping, environment);
  return environment;
}

// Runs the program once more, in the same layer, from the checkpoint that it left there.
absl::Status RunAgain(const Trial& then, const launch::LaunchPlan& plan, FileLayer& layer,
                      TrialResult& result) {
  absl::StatusOr<TrialResult> resumed = RunOnce(then, plan, nullptr, layer);
  if (!resumed.ok()) return resumed.status();
  result.asked_to_stop = resumed->asked_to_stop;
  result.seconds += resumed->seconds;
  result.resumed.push_back(*std::move(resumed));
  return absl::OkStatus();
}

}  // namespace

bool MayBeForked(const Trial& trial, const FileKeeping& keeping) {
  return keeping.layer_bytes > 0 && !trial.job && trial.stub.empty() &&
         !env::Is(env::kFitForks, "0");
}

absl::StatusOr<TrialResult> RunTrial(const Trial& trial, const fs::path& folder,
                                     const FileKeeping& keeping, ForkServer* server) {
  MEMTRACE_ASSIGN_OR_RETURN(const launch::Environment environment,
                            MakePlace(trial, folder, keeping));
  FileLayer layer(environment, folder.string(), keeping.layer_bytes);
  MEMTRACE_ASSIGN_OR_RETURN(launch::LaunchPlan plan, PlanOnce(trial, folder, "run", environment));
  const bool has_layer = keeping.layer_bytes > 0;
  if (has_layer) plan.prepare = [&layer](launch::Environment& set) { return layer.Enter(set); };
  absl::StatusOr<TrialResult> result = RunOnce(trial, plan, has_layer ? server : nullptr, layer);
  if (!result.ok()) return result.status();
  const bool has_ended = result->exit_code == 0 && !result->is_late && result->asked_to_stop == 0;
  const std::optional<Trial> then =
      has_ended ? ResumedTrial(trial, folder / kCheckpointFile) : std::nullopt;
  if (then) {
    layer.Keep();
    MEMTRACE_ASSIGN_OR_RETURN(launch::LaunchPlan again,
                              PlanOnce(*then, folder, "resumed", environment));
    if (has_layer)
      again.prepare = [&layer](launch::Environment& set) { return layer.EnterAgain(set); };
    MEMTRACE_RETURN_IF_ERROR(RunAgain(*then, again, layer, *result));
  }
  result->layer = layer.Contents();
  result->saves = ListedIn(folder / "saves");
  result->opened = ListedIn(folder / "files" / ".opened");
  return result;
}

absl::StatusOr<std::unique_ptr<ForkServer>> StartForkServer(const Trial& trial,
                                                            const fs::path& folder,
                                                            const FileKeeping& keeping) {
  MEMTRACE_ASSIGN_OR_RETURN(const launch::Environment environment,
                            MakePlace(trial, folder, keeping));
  auto layer = std::make_unique<FileLayer>(environment, folder.string(), keeping.layer_bytes);
  MEMTRACE_ASSIGN_OR_RETURN(launch::LaunchPlan plan,
                            PlanOnce(trial, folder, "server", environment));
  return ForkServer::Start(std::move(plan), std::move(layer));
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
