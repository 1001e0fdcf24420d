// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/running_trial.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "base/environment.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/trials/resumed_trial.h"
#include "tools/fit/trials/trial_environment.h"
#include "tools/launch/child_process.h"
#include "tools/launch/job_process.h"

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

}  // namespace

absl::Status RunningTrial::Start(const FileKeeping& keeping, ForkServer* server) {
  MEMTRACE_ASSIGN_OR_RETURN(environment_, MakePlace(trial_, folder_, keeping));
  has_layer_ = keeping.layer_bytes > 0;
  layer_ = std::make_unique<FileLayer>(environment_, folder_.string(), keeping.layer_bytes);
  MEMTRACE_RETURN_IF_ERROR(Plan(trial_, "run"));
  if (has_layer_) plan_.prepare = [this](launch::Environment& set) { return layer_->Enter(set); };
  return StartProcess(has_layer_ ? server : nullptr);
}

// Plans the next process, and what is known of its result.
absl::Status RunningTrial::Plan(const Trial& trial, const char* name) {
  MEMTRACE_ASSIGN_OR_RETURN(plan_, PlanOnce(trial, folder_, name, environment_));
  traces_ = WatchTraces(trial, RequestOf(trial, plan_.output), plan_);
  latest_ = {};
  latest_.log = plan_.log;
  return absl::OkStatus();
}

// If the process cannot be forked into its layer, starts it there.
absl::Status RunningTrial::StartProcess(ForkServer* server) {
  begun_ = std::chrono::steady_clock::now();
  if (server != nullptr && server->CanRun(plan_)) {
    const absl::StatusOr<pid_t> forked = server->Fork(plan_, *layer_);
    latest_.is_forked = forked.ok();
    process_ = forked.value_or(-1);
    if (forked.ok()) return absl::OkStatus();
    if (layer_->mounts() >= 0)
      plan_.prepare = [this](launch::Environment& set) { return layer_->EnterAgain(set); };
  }
  MEMTRACE_ASSIGN_OR_RETURN(process_, launch::StartProcess(plan_));
  return absl::OkStatus();
}

absl::StatusOr<bool> RunningTrial::NoteEnd(const launch::ExitStatus& end) {
  TakeResult(end);
  if (resumes_) return false;
  first_ = std::exchange(latest_, {});
  const bool has_ended = end.code == 0 && !end.is_late && end.asked_to_stop == 0;
  const std::optional<Trial> then =
      has_ended ? ResumedTrial(trial_, folder_ / kCheckpointFile) : std::nullopt;
  if (!then) return false;
  layer_->Keep();
  MEMTRACE_RETURN_IF_ERROR(Plan(*then, "resumed"));
  if (has_layer_)
    plan_.prepare = [this](launch::Environment& set) { return layer_->EnterAgain(set); };
  resumes_ = true;
  MEMTRACE_RETURN_IF_ERROR(StartProcess(nullptr));
  return true;
}

void RunningTrial::TakeResult(const launch::ExitStatus& end) {
  const auto now = std::chrono::steady_clock::now();
  latest_.seconds = std::chrono::duration<double>(now - begun_).count();
  latest_.exit_code = end.code;
  latest_.is_late = end.is_late;
  latest_.asked_to_stop = end.asked_to_stop;
  latest_.host_bytes = end.host_bytes;
  latest_.traces = Found(traces_);
}

TrialResult RunningTrial::Result() {
  TrialResult result = std::move(first_);
  if (resumes_) {
    result.asked_to_stop = latest_.asked_to_stop;
    result.seconds += latest_.seconds;
    result.host_bytes = std::max(result.host_bytes, latest_.host_bytes);
    result.resumed.push_back(std::move(latest_));
  }
  result.layer = layer_->Contents();
  result.saves = ListedIn(folder_ / "saves");
  result.opened = ListedIn(folder_ / "files" / ".opened");
  return result;
}

absl::StatusOr<TrialResult> RunTrial(const Trial& trial, const fs::path& folder,
                                     const FileKeeping& keeping, ForkServer* server) {
  RunningTrial running(trial, folder);
  MEMTRACE_RETURN_IF_ERROR(running.Start(keeping, server));
  bool goes_on = true;
  while (goes_on) {
    const launch::ExitStatus end = launch::WaitForEnd(running.process(), running.plan());
    MEMTRACE_ASSIGN_OR_RETURN(goes_on, running.NoteEnd(end));
  }
  return running.Result();
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

}  // namespace memtrace::fit
