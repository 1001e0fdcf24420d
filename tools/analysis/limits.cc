// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/limits.h"

#include <utility>

namespace memtrace::analysis {
namespace {

LimitCheck CheckGrowth(const Explanation& explanation, int32_t card, uint64_t limit) {
  LimitCheck check{
      .card = card, .what = "growth", .found = std::nullopt, .limit = static_cast<int64_t>(limit)};
  const auto timeline = explanation.timelines.find(card);
  if (timeline == explanation.timelines.end()) return check;
  check.found = GrowthPerStep(timeline->second.live_at_steps);
  check.steps = timeline->second.live_at_steps.size();
  return check;
}

}  // namespace

std::vector<LimitCheck> CheckLimits(const Explanation& explanation, const Limits& limits) {
  std::vector<LimitCheck> checks;
  const auto add = [&checks](std::optional<int32_t> card, std::string what, int64_t found,
                             uint64_t limit) {
    checks.push_back({.card = card,
                      .what = std::move(what),
                      .found = found,
                      .limit = static_cast<int64_t>(limit)});
  };
  if (!limits.allow_out_of_memory) {
    const bool counts = limits.fail_on_retry || !explanation.failure.got_over;
    const uint64_t failures = counts ? explanation.run.counts.out_of_memory : 0;
    add(std::nullopt, "out of memory", static_cast<int64_t>(failures), 0);
  }
  for (const CardExplanation& card : explanation.cards) {
    if (limits.peak) add(card.index, "peak", static_cast<int64_t>(card.peak.bytes), *limits.peak);
    if (limits.growth_per_step)
      checks.push_back(CheckGrowth(explanation, card.index, *limits.growth_per_step));
    for (const auto& [role, most] : limits.roles) {
      add(card.index, std::string(RoleName(role)),
          static_cast<int64_t>(BytesOfRole(card.peak, role)), most);
    }
  }
  return checks;
}

}  // namespace memtrace::analysis
