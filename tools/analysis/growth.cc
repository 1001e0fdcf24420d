// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/growth.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "tools/analysis/frames.h"

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

// Where the latest rises of a stack began and ended, as places in its levels.
struct Rise {
  size_t first = 0;
  size_t last = 0;
};

// True if the first rise is a jump: larger than twice each later one, of which there are enough.
bool BeginsWithJump(const std::vector<uint64_t>& bytes, size_t first) {
  const uint64_t jump = bytes[first + 1] - bytes[first];
  size_t rises = 0;
  for (size_t i = first + 2; i < bytes.size(); ++i) {
    const uint64_t rise = bytes[i] - bytes[i - 1];
    if (jump <= 2 * rise) return false;
    rises += rise > 0 ? 1U : 0U;
  }
  return rises >= kRises;
}

std::string UserLine(const std::vector<trace::Frame>& stack) {
  const trace::Frame* frame = InnermostUserFrame(stack);
  return frame == nullptr ? "" : ShortFrame(*frame);
}

std::optional<Rise> LatestRise(const std::vector<uint64_t>& bytes) {
  const size_t last = bytes.size() - 1;
  size_t first = last;
  size_t rises = 0;
  while (first > 0 && bytes[first - 1] <= bytes[first]) {
    rises += bytes[first - 1] < bytes[first] ? 1U : 0U;
    --first;
  }
  if (rises < kRises) return std::nullopt;
  while (bytes[first + 1] == bytes[first]) ++first;  // where it began to rise
  if (BeginsWithJump(bytes, first)) ++first;
  return Rise{first, last};
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
    std::vector<GrowthLevel>& levels = card.levels[{site, allocation.stack}];
    if (levels.empty() || levels.back().step != step) levels.push_back({step, 0});
    levels.back().bytes += allocation.requested;
  });
}

// One line has stacks that grow and others that jump once (a whole step in one line makes outputs,
// gradients and optimizer states), so each is judged by itself.
std::vector<GrowingSite> GrowthWatch::Growing(int32_t device, const SiteNames& sites,
                                              const EventSource& source) const {
  std::vector<GrowingSite> growing;
  const auto card = cards_.find(device);
  if (card == cards_.end()) return growing;
  const std::vector<uint64_t>& steps = card->second.steps;
  std::map<SiteId, GrowingSite> found;
  std::map<SiteId, uint64_t> in_use;
  std::map<SiteId, uint64_t> most;
  for (const auto& [place, levels] : card->second.levels) {
    const std::vector<uint64_t> bytes = AllLevels(steps, levels);
    in_use[place.first] += bytes.back();
    const std::optional<Rise> rise = LatestRise(bytes);
    if (!rise) continue;
    const uint64_t since = steps[rise->first];
    const uint64_t gained = bytes[rise->last] - bytes[rise->first];
    GrowingSite& site = found[place.first];
    site.since = site.gained == 0 ? since : std::min(site.since, since);
    site.last = steps[rise->last];
    site.gained += gained;
    site.bytes_per_step += gained / (site.last - since);
    // Autograd's own threads have no line; the module's forward, whose backward they run, has one.
    std::string line = UserLine(source.Stack(place.second));
    if (line.empty() || gained <= most[place.first]) continue;
    most[place.first] = gained;
    site.line = std::move(line);
  }
  for (auto& [id, site] : found) {
    site.site = sites.Name(id);
    site.bytes = in_use.at(id);
    growing.push_back(std::move(site));
  }
  std::sort(growing.begin(), growing.end(), [](const GrowingSite& a, const GrowingSite& b) {
    return std::tie(b.bytes_per_step, a.site) < std::tie(a.bytes_per_step, b.site);
  });
  return growing;
}

}  // namespace memtrace::analysis
