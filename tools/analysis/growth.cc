// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/growth.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace memtrace::analysis {
namespace {

constexpr size_t kLastSteps = 8;     // looked at one by one
constexpr size_t kSpreadSteps = 24;  // of those before them
constexpr size_t kRises = 3;         // that are growth: what the first step makes is one

// One for each of `steps`; 0 where the site had nothing.
std::vector<uint64_t> AllLevels(const std::vector<uint64_t>& steps,
                                const std::vector<GrowthLevel>& levels) {
  std::vector<uint64_t> all(steps.size());
  auto next = levels.begin();
  for (size_t i = 0; i < steps.size() && next != levels.end(); ++i) {
    if (next->step == steps[i]) all[i] = (next++)->bytes;
  }
  return all;
}

}  // namespace

int64_t GrowthPerStep(const std::vector<uint64_t>& live_at_steps) {
  constexpr size_t kFirst = 2;
  if (live_at_steps.size() < kFirst + 3) return 0;
  const auto gained = static_cast<int64_t>(live_at_steps.back() - live_at_steps[kFirst]);
  return gained / static_cast<int64_t>(live_at_steps.size() - 1 - kFirst);
}

std::vector<size_t> GrowthWatch::StepsToSee(size_t steps) {
  std::vector<size_t> seen;
  const size_t last = std::min(steps, kLastSteps);
  const size_t before = steps - last;
  const size_t spread = std::min(before, kSpreadSteps);
  seen.reserve(spread + last);
  for (size_t i = 0; i < spread; ++i) seen.push_back(i * before / spread);
  for (size_t i = before; i < steps; ++i) seen.push_back(i);
  return seen;
}

void GrowthWatch::See(uint64_t step, int32_t device, const LiveSet& live, SiteNames& sites) {
  Card& card = cards_[device];
  card.steps.push_back(step);
  live.ForEachInUse(device, [&](BlockId id) {
    const Block& block = live.block(id);
    const trace::Allocate& allocation = block.allocation;
    const SiteId site = sites.Site(trace::Role::kUnknown, 0, allocation.module, allocation.stack,
                                   block.birth.phase);
    std::vector<GrowthLevel>& levels = card.levels[site];
    if (levels.empty() || levels.back().step != step) levels.push_back({step, 0});
    levels.back().bytes += allocation.requested;
  });
}

std::vector<GrowingSite> GrowthWatch::Growing(int32_t device, const SiteNames& sites) const {
  std::vector<GrowingSite> growing;
  const auto card = cards_.find(device);
  if (card == cards_.end()) return growing;
  const std::vector<uint64_t>& steps = card->second.steps;
  for (const auto& [site, levels] : card->second.levels) {
    const std::vector<uint64_t> bytes = AllLevels(steps, levels);
    const size_t last = bytes.size() - 1;
    size_t first = last;
    size_t rises = 0;
    while (first > 0 && bytes[first - 1] <= bytes[first]) {
      rises += bytes[first - 1] < bytes[first] ? 1U : 0U;
      --first;
    }
    if (rises < kRises) continue;
    while (bytes[first + 1] == bytes[first]) ++first;  // where it began to rise
    const uint64_t gained = bytes[last] - bytes[first];
    growing.push_back({.site = sites.Name(site),
                       .bytes = bytes[last],
                       .gained = gained,
                       .bytes_per_step = gained / (steps[last] - steps[first]),
                       .since = steps[first],
                       .last = steps[last]});
  }
  std::sort(growing.begin(), growing.end(), [](const GrowingSite& a, const GrowingSite& b) {
    return std::tie(b.bytes_per_step, a.site) < std::tie(a.bytes_per_step, b.site);
  });
  return growing;
}

}  // namespace memtrace::analysis
