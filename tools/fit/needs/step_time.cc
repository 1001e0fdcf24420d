// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/step_time.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::fit {
namespace {

namespace fact = trace::fact;

// A step with more uncounted kernels than a tenth of the counted ones has no time.
constexpr uint64_t kCountedForEachUncounted = 10;

uint64_t Number(const analysis::Annotations& annotations, std::string_view key) {
  return analysis::AnnotatedNumber(annotations, key).value_or(0);
}

std::vector<PartTime> PartsOf(const analysis::Annotations& annotations) {
  std::vector<PartTime> parts;
  for (const auto& [phase, value] : analysis::AnnotatedAll(annotations, fact::kFitStepCardUs)) {
    parts.push_back({.phase = std::string(phase),
                     .card = Number(annotations, fact::kFitStepCardUs.Of(phase)),
                     .host = Number(annotations, fact::kFitStepHostUs.Of(phase))});
  }
  return parts;
}

std::vector<std::string> NamesOf(const std::string& text) {
  const auto names = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> all;
  if (!names.is_array()) return all;
  for (const auto& name : names)
    if (name.is_string()) all.push_back(name.get<std::string>());
  return all;
}

uint64_t Sum(const std::vector<PartTime>& parts, uint64_t PartTime::*time) {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [time](uint64_t sum, const PartTime& part) { return sum + part.*time; });
}

}  // namespace

double StepTime::microseconds() const {
  uint64_t longer = 0;
  for (const PartTime& part : parts) longer += std::max(part.card, part.host);
  return static_cast<double>(std::max(longer, link) + bus);
}

bool StepTime::is_bound_by_launches() const {
  return Sum(parts, &PartTime::host) > Sum(parts, &PartTime::card);
}

bool StepTime::is_whole() const { return uncounted * kCountedForEachUncounted <= launches; }

std::optional<StepTime> StepTimeOf(const analysis::Annotations& annotations) {
  StepTime time;
  time.parts = PartsOf(annotations);
  time.bus = Number(annotations, fact::kFitStepBusUs);
  time.link = Number(annotations, fact::kFitStepLinkUs);
  time.is_measured = analysis::AnnotatedText(annotations, fact::kFitTimesSource) == "measured";
  time.unknown = NamesOf(analysis::AnnotatedText(annotations, fact::kFitTimesUnknown));
  time.launches = Number(annotations, fact::kFitStepLaunches);
  time.uncounted = Number(annotations, fact::kFitStepOutside);
  if (time.microseconds() == 0) return std::nullopt;
  return time;
}

std::optional<double> TimeRatio(const std::optional<StepTime>& before,
                                const std::optional<StepTime>& after) {
  if (!before || !after || !before->is_whole() || !after->is_whole()) return std::nullopt;
  return after->microseconds() / before->microseconds();
}

}  // namespace memtrace::fit
