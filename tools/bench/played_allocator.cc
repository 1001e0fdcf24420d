// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/played_allocator.h"

#include <vector>

#include "base/environment.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/launch/package_program.h"

namespace memtrace::bench {
namespace {

using nlohmann::json;

// Removes what the user set for other programs, so that equal requests give equal rows. What a
// simulated card in the place of a GPU is stays.
void KeepRepeatable(launch::Environment& environment, bool is_gpu) {
  for (auto entry = environment.begin(); entry != environment.end();) {
    const std::string& name = entry->first;
    const bool is_ours = name.starts_with(env::kSwitch.name()) && name != env::kHome.name() &&
                         name != env::kLanguage.name() && !(is_gpu && name == env::kCard.name());
    const bool is_setting = name == "PYTORCH_CUDA_ALLOC_CONF" || name == "PYTORCH_ALLOC_CONF" ||
                            name == "PYTORCH_NO_CUDA_MEMORY_CACHING" ||
                            name == "CUDA_VISIBLE_DEVICES";
    entry = is_ours || is_setting ? environment.erase(entry) : std::next(entry);
  }
}

std::optional<Fault> FaultOf(const json& answer) {
  if (!answer.contains("fault")) return std::nullopt;
  Fault fault{answer.value("fault", ""), answer.value("detail", ""), std::nullopt};
  if (answer.contains("fault_at")) fault.request = answer["fault_at"].get<uint64_t>();
  return fault;
}

json Parsed(const absl::StatusOr<std::string>& line) {
  json answer = line.ok() ? json::parse(*line, nullptr, /*allow_exceptions=*/false) : json();
  return answer.is_object() ? answer : json{{"fault", "ended"}, {"detail", ""}};
}

PlayOutcome OutcomeOf(const json& answer) {
  PlayOutcome outcome;
  outcome.fault = FaultOf(answer);
  outcome.failures = answer.value("failures", uint64_t{0});
  if (answer.contains("first_failure"))
    outcome.first_failure = answer["first_failure"].get<uint64_t>();
  outcome.peak = answer.value("peak", uint64_t{0});
  outcome.in_use = answer.value("in_use", std::vector<Bytes>());
  outcome.calls = answer.value("calls", std::map<std::string, uint64_t>());
  return outcome;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PlayedAllocator>> PlayedAllocator::Start(const PlayedOrder& order) {
  const json words{{"allocator", order.allocator},
                   {"allocate", order.allocate},
                   {"release", order.release},
                   {"requests", order.requests},
                   {"gpu", order.is_gpu}};
  absl::StatusOr<launch::LaunchPlan> plan =
      launch::PlanPackageProgram("memtrace._bench", {words.dump()});
  if (!plan.ok()) return plan.status();
  KeepRepeatable(plan->environment, order.is_gpu);
  if (!order.plan.empty()) plan->environment[env::kPlan.name()] = order.plan;
  MEMTRACE_ASSIGN_OR_RETURN(auto process, PlayerProcess::Start(*plan));
  return std::make_unique<PlayedAllocator>(std::move(process), order.limit);
}

std::optional<Fault> PlayedAllocator::Begin() {
  if (!is_ready_) fault_ = FaultOf(Parsed(process_->Read()));
  is_ready_ = true;
  return fault_;
}

PlayOutcome PlayedAllocator::PlayOn(Bytes card, bool stops, bool checks) {
  PlayOutcome outcome;
  outcome.fault = Begin();
  if (outcome.fault) return outcome;
  const json turn{{"card", card}, {"limit", limit_}, {"stops", stops}, {"checks", checks}};
  return OutcomeOf(Parsed(process_->Ask(turn.dump())));
}

std::optional<TimedOutcome> PlayedAllocator::Time(Bytes card, int threads, double seconds) {
  if (std::optional<Fault> fault = Begin()) return TimedOutcome{.fault = std::move(fault)};
  const json turn{{"card", card}, {"limit", limit_}, {"threads", threads}, {"seconds", seconds}};
  const json answer = Parsed(process_->Ask(turn.dump()));
  return TimedOutcome{answer.value("ns", 0.0), FaultOf(answer)};
}

}  // namespace memtrace::bench
