// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/trial_environment.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/environment.h"
#include "nlohmann/json.hpp"
#include "tools/fit/files/layered_root.h"

namespace memtrace::fit {
namespace {

void SetOrErase(launch::Environment& environment, env::Variable variable, std::string value) {
  if (value.empty()) {
    environment.erase(variable.name());
  } else {
    environment[variable.name()] = std::move(value);
  }
}

// Returns the time in seconds of CLOCK_MONOTONIC, which is Python's time.monotonic().
uint64_t MonotonicSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace

void SetPlace(const Trial& trial, const std::filesystem::path& folder, const FileKeeping& keeping,
              launch::Environment& environment) {
  const bool has_layer = keeping.layer_bytes > 0;
  const bool may_be_forked = MayBeForked(trial, keeping);
  const auto in_folder = [&](const char* name) { return (folder / name).string(); };
  for (const auto& [name, value] : trial.set) environment[name] = value;
  environment.erase(env::kFitForks.name());
  environment[env::kFitSizes.name()] = in_folder(kSizesFolder);
  SetOrErase(environment, env::kFitImports, may_be_forked ? in_folder(kImportsFile) : "");
  SetOrErase(environment, env::kFitScratch, has_layer ? "" : in_folder("files"));
  SetOrErase(environment, env::kFitSaves, has_layer ? in_folder("saves") : "");
  if (has_layer) environment["TMPDIR"] = in_folder(kTemporaryFolder);
}

void SetTask(const Trial& trial, launch::Environment& environment) {
  const std::string also = trial.also.empty() ? "" : nlohmann::json(trial.also).dump();
  environment[env::kFitEnds.name()] = absl::StrCat(MonotonicSeconds() + trial.seconds);
  environment[env::kFitSteps.name()] = absl::StrCat(trial.least_steps, ":", trial.most_steps);
  environment[env::kFitWatch.name()] = absl::StrCat(trial.watch_seconds);
  environment[env::kFitBatchOrder.name()] = trial.batch_order;
  environment[env::kFitMeasureTime.name()] = absl::StrCat(trial.measure_seconds);
  environment.erase(env::kWith.name());  // a trial has its own changes
  SetOrErase(environment, env::kFitChanges, trial.changes);
  SetOrErase(environment, env::kFitStub, trial.stub);
  SetOrErase(environment, env::kFitMoments, trial.moments);
  SetOrErase(environment, env::kFitAlso, also);
}

}  // namespace memtrace::fit
