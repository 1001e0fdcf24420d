// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict_json.h"

#include <string_view>

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

std::string_view NeedSourceName(analysis::NeedSource source) {
  switch (source) {
    case analysis::NeedSource::kUnknown:
      return "unknown";
    case analysis::NeedSource::kForeachCopy:
      return "optimizer_hook";
    case analysis::NeedSource::kOptimizer:
      return "optimizer";
    case analysis::NeedSource::kPlacement:
      return "placement";
    case analysis::NeedSource::kLayers:
      return "layers";
    case analysis::NeedSource::kKvCache:
      return "kv_cache";
    case analysis::NeedSource::kPreviousMicroBatch:
      return "previous_micro_batch";
    case analysis::NeedSource::kPreviousStep:
      return "previous_step";
  }
  return "unknown";
}

// Returns null if the trace does not say what the optimizers will allocate.
ordered_json StillToComeJson(const analysis::RestOfStep& rest) {
  const analysis::OptimizerNeed& need = rest.optimizer;
  if (need.bytes() == 0) return nullptr;
  return {{"gradients", need.gradients},
          {"optimizer_states", need.states},
          {"optimizer_states_made", need.states_made},
          {"copy", need.copy},
          {"at_least", rest.at_least}};
}

ordered_json LayersToComeJson(const analysis::RestOfStep& rest) {
  if (!rest.layers) return nullptr;
  return {{"name", rest.layers->name},
          {"current", rest.layers->current + 1},
          {"layers", rest.layers->layers},
          {"each", rest.layers->each},
          {"bytes", rest.layers->to_come}};
}

}  // namespace

ordered_json VerdictJson(const analysis::Verdict& verdict,
                         const std::vector<std::string>& sentences) {
  std::string sentence;
  for (const std::string& part : sentences) {
    sentence += (sentence.empty() ? "" : " ") + part;
  }
  ordered_json contributing = ordered_json::array();
  ordered_json contributing_bytes = ordered_json::object();
  for (const analysis::Contribution& contribution : verdict.contributing) {
    const std::string name(analysis::ContributionName(contribution.kind));
    contributing.push_back(name);
    contributing_bytes[name] = contribution.bytes;
  }
  return {{"cause", std::string(trace::FailureCauseName(verdict.cause))},
          {"short_by", verdict.short_by},
          {"sentence", sentence},
          {"contributing", contributing},
          {"contributing_bytes", contributing_bytes},
          {"step_short_by",
           verdict.step_short_by ? ordered_json(*verdict.step_short_by) : ordered_json(nullptr)},
          {"step_short_by_from", std::string(NeedSourceName(verdict.rest.source))},
          {"still_to_come", StillToComeJson(verdict.rest)},
          {"layers_to_come", LayersToComeJson(verdict.rest)}};
}

}  // namespace memtrace::report
