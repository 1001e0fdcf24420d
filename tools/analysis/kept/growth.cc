// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/growth.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

constexpr size_t kLastSteps = 8;     // looked at one by one
constexpr size_t kSpreadSteps = 24;  // of those before them
constexpr size_t kRises = 3;         // the fewest that are growth; what the first step makes is one

// Returns a level for each of `steps`; 0 where the site had nothing.
std::vector<uint64_t> AllLevels(const std::vector<uint64_t>& steps,
                                const std::vector<GrowthLevel>& levels,
                                uint64_t GrowthLevel::*figure) {
  std::vector<uint64_t> all(steps.size());
  auto next = levels.begin();
  for (size_t i = 0; i < steps.size() && next != levels.end(); ++i) {
    if (next->step == steps[i]) all[i] = (*next++).*figure;
  }
  return all;
}

// The first and the last index of a stack's latest rises, in its levels.
struct Rise {
  size_t first = 0;
  size_t last = 0;
};

// True if the first rise is a jump: larger than twice each later one, of which there are enough.
bool BeginsWithJump(const std::vector<uint64_t>& bytes, const std::vector<uint64_t>& steps,
                    size_t first) {
  const auto rise_at = [&](size_t i) {  // for each step
    return (bytes[i] - bytes[i - 1]) / std::max<uint64_t>(steps[i] - steps[i - 1], 1);
  };
  const uint64_t jump = rise_at(first + 1);
  size_t rises = 0;
  for (size_t i = first + 2; i < bytes.size(); ++i) {
    const uint64_t rise = rise_at(i);
    if (jump <= 2 * rise) return false;
    rises += rise > 0 ? 1U : 0U;
  }
  return rises >= kRises;
}

bool IsCache(const std::vector<LabelledRange>& labels) {
  return std::any_of(labels.begin(), labels.end(), [](const LabelledRange& range) {
    return range.label.role == trace::Role::kKvCache;
  });
}

// True if it fell from half as high or more before this rise. Memory that is freed from time to
// time, such as the outputs of an epoch, is not growth, even if it rises between two frees.
bool ComesAndGoes(const std::vector<uint64_t>& bytes, const Rise& rise) {
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(rise.first);
  return std::any_of(bytes.begin(), end,
                     [&](uint64_t level) { return level > bytes[rise.last] / 2; });
}

// A stack that grows.
struct StackGrowth {
  trace::StackId stack = 0;
  uint64_t gained = 0;
  uint64_t since = 0;
  uint64_t last = 0;
  bool is_enlarged = false;
};

// Adds up the stacks of a site that grow.
class SiteGrowth {
 public:
  // Autograd's own threads have no line; the module's forward, whose backward they run, has one.
  void Add(const StackGrowth& stack, const std::string& line) {
    site_.since = site_.gained == 0 ? stack.since : std::min(site_.since, stack.since);
    site_.last = stack.last;
    site_.stacks.push_back(stack.stack);
    site_.gained += stack.gained;
    site_.bytes_per_step += stack.gained / std::max<uint64_t>(stack.last - stack.since, 1);
    if (stack.gained > most_) site_.is_enlarged = stack.is_enlarged;
    most_ = std::max(most_, stack.gained);
    if (line.empty() || std::tie(most_of_line_, line) > std::tie(stack.gained, site_.line)) return;
    most_of_line_ = stack.gained;
    site_.line = line;
  }

  const GrowingSite& site() const { return site_; }

 private:
  GrowingSite site_;
  uint64_t most_ = 0;          // gained by one stack
  uint64_t most_of_line_ = 0;  // ... of those with a line
};

std::optional<Rise> LatestRise(const std::vector<uint64_t>& bytes,
                               const std::vector<uint64_t>& steps) {
  const size_t last = bytes.size() - 1;
  size_t first = last;
  size_t rises = 0;
  while (first > 0 && bytes[first - 1] <= bytes[first]) {
    rises += bytes[first - 1] < bytes[first] ? 1U : 0U;
    --first;
  }
  if (rises < kRises) return std::nullopt;
  while (bytes[first + 1] == bytes[first]) ++first;  // where it began to rise
  const bool has_jump = BeginsWithJump(bytes, steps, first);
  if (ComesAndGoes(bytes, {first, last})) return std::nullopt;
  return Rise{has_jump ? first + 1 : first, last};
}

}  // namespace

std::optional<int64_t> GrowthPerStep(const std::vector<uint64_t>& live_at_steps) {
  constexpr size_t kFirst = 2;
  if (live_at_steps.size() < kStepsForGrowth) return std::nullopt;
  const auto gained = static_cast<int64_t>(live_at_steps.back() - live_at_steps[kFirst]);
  return gained / static_cast<int64_t>(live_at_steps.size() - 1 - kFirst);
}

uint64_t GrowthCourse::gained() const {
  uint64_t bytes = 0;
  for (const GrowingSite& site : sites) bytes += site.gained;
  return bytes;
}

bool GrowthCourse::is_worth_saying(uint64_t held) const {
  // Small things always come and go. A loop that is over, or a program that completed, has taken
  // all that it takes.
  const uint64_t part = kind == IterationKind::kLoop && is_past ? 10 : 1000;
  if (bytes_per_iteration <= 0 || sites.empty()) return false;
  return sites.front().gained > 0 && sites.front().gained >= held / part;
}

bool GrowthCourse::is_reason(uint64_t held, uint64_t short_by) const {
  constexpr uint64_t kPart = 10;
  if (!is_worth_saying(held) || gained() < held / kPart) return false;
  return gained() >= short_by && is_sure;
}

std::vector<size_t> GrowthWatch::StepsToSample(size_t steps) {
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
  uint64_t& in_use = card.in_use.emplace_back(0);
  const uint64_t newest_before = card.newest;
  live.ForEachInUse(device, [&](BlockId id) {
    const Block& block = live.block(id);
    card.newest = std::max(card.newest, block.sequence);
    const bool is_new = block.sequence > newest_before;
    if (of_loop_ && is_new && block.labelled && IsCache(live.Labels(id))) return;
    const trace::Allocate& allocation = block.allocation;
    const SiteId site = sites.Site(trace::Role::kUnknown, 0, allocation.module, allocation.stack,
                                   block.birth.phase);
    std::vector<GrowthLevel>& levels = card.levels[{site, allocation.stack}];
    if (levels.empty() || levels.back().step != step) levels.push_back({.step = step});
    levels.back().bytes += allocation.requested;
    ++levels.back().blocks;
    in_use += allocation.requested;
  });
}

int64_t GrowthWatch::PerIteration(int32_t device) const {
  const auto card = cards_.find(device);
  if (card == cards_.end()) return 0;
  const std::vector<uint64_t>& steps = card->second.steps;
  const std::vector<uint64_t>& in_use = card->second.in_use;
  size_t first = 0;
  while (first < steps.size() && steps[first] < steps[0] + 2) ++first;
  if (first + kRises >= steps.size()) return 0;
  const auto gained = static_cast<int64_t>(in_use.back() - in_use[first]);
  return gained / static_cast<int64_t>(steps.back() - steps[first]);
}

// A line may have stacks that grow and others that jump once (a whole step in one line makes
// outputs, gradients and optimizer states), so each stack is judged by itself.
std::vector<GrowingSite> GrowthWatch::Growing(int32_t device, const SiteNames& sites,
                                              const EventSource& source) const {
  std::vector<GrowingSite> growing;
  const auto card = cards_.find(device);
  if (card == cards_.end()) return growing;
  std::map<SiteId, SiteGrowth> found;
  std::map<SiteId, uint64_t> in_use;
  for (const auto& [place, levels] : card->second.levels) {
    const std::vector<uint64_t> bytes = AllLevels(card->second.steps, levels, &GrowthLevel::bytes);
    in_use[place.first] += bytes.back();
    const std::optional<Rise> rise = LatestRise(bytes, card->second.steps);
    if (!rise) continue;
    const std::vector<uint64_t> blocks =
        AllLevels(card->second.steps, levels, &GrowthLevel::blocks);
    found[place.first].Add(
        {.stack = place.second,
         .gained = bytes[rise->last] - bytes[rise->first],
         .since = card->second.steps[rise->first],
         .last = card->second.steps[rise->last],
         .is_enlarged = blocks[rise->last] <= std::max<uint64_t>(blocks[rise->first], 1)},
        UserLine(source.Stack(place.second)));
  }
  for (const auto& [id, growth] : found) {
    growing.push_back(growth.site());
    growing.back().site = sites.Name(id);
    growing.back().bytes = in_use.at(id);
  }
  std::sort(growing.begin(), growing.end(), [](const GrowingSite& a, const GrowingSite& b) {
    return std::tie(b.bytes_per_step, a.site) < std::tie(a.bytes_per_step, b.site);
  });
  return growing;
}

}  // namespace memtrace::analysis
