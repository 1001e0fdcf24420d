// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/plan_of_process.h"

#include <string>
#include <utility>

#include "base/environment.h"
#include "interpose/core/recorded_text/recorded_paths.h"
#include "interpose/core/spoken_sentence.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace {

std::shared_ptr<const Plan> ReadPlanOfProcess() {
  const std::string path(env::Text(env::kPlan));
  if (path.empty()) return nullptr;
  absl::StatusOr<Plan> plan = Plan::Read(path);
  if (plan.ok()) return std::make_shared<const Plan>(*std::move(plan));
  PrintSentence("No plan is used (" + std::string(plan.status().message()) +
                "). memtrace plan makes one. The program continues without it.");
  return nullptr;
}

void RecordPlanUse(const PlanUse& use, recorder::ProgramRecorder& program) {
  program.Annotate(trace::fact::kPlanFile, AsRecorded(std::string(env::Text(env::kPlan))));
  program.Annotate(trace::fact::kPlanPlaced, std::to_string(use.placed));
  program.Annotate(trace::fact::kPlanElsewhere, std::to_string(use.elsewhere));
}

}  // namespace memtrace
