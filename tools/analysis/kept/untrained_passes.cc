// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/untrained_passes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {

void UntrainedWatch::See(const trace::Event& event) {
  const auto* annotation = std::get_if<trace::Annotate>(&event.payload);
  if (annotation == nullptr || source_.String(annotation->key) != trace::fact::kPassesUntrained)
    return;
  if (!source_.String(annotation->value).empty()) {
    passes_.push_back({.begin = event.sequence, .end = 0, .line = annotation->value});
  } else if (!passes_.empty() && passes_.back().end == 0) {
    passes_.back().end = event.sequence;
  }
}

// Returns the pass that made the block; null if none of them did.
const UntrainedWatch::Pass* UntrainedWatch::MakerOf(const Block& block) const {
  const auto later =
      std::upper_bound(passes_.begin(), passes_.end(), block.sequence,
                       [](uint64_t sequence, const Pass& pass) { return sequence < pass.begin; });
  if (later == passes_.begin()) return nullptr;
  const Pass& pass = *std::prev(later);
  return pass.end == 0 || block.sequence < pass.end ? &pass : nullptr;
}

uint64_t UntrainedWatch::Activations(const CapturedBlock& entry, const LiveSet& live) const {
  uint64_t bytes = 0;
  for (const Part& part : PartsOf(live.block(entry.id), live.Labels(entry.id), live.position(),
                                  source_.best_evidence()))
    if (part.identity.role == trace::Role::kActivation) bytes += part.bytes;
  return bytes;
}

std::optional<UntrainedPasses> UntrainedWatch::Kept(const std::vector<CapturedBlock>& captured,
                                                    const LiveSet& live) const {
  std::map<const Pass*, uint64_t> made;
  for (const CapturedBlock& entry : captured) {
    const Pass* maker = entry.waiting ? nullptr : MakerOf(live.block(entry.id));
    if (maker == nullptr) continue;
    if (const uint64_t bytes = Activations(entry, live); bytes > 0) made[maker] += bytes;
  }
  if (made.empty()) return std::nullopt;
  UntrainedPasses kept{.bytes = 0, .calls = made.size(), .line = "", .is_running = false};
  const auto most = std::max_element(
      made.begin(), made.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  kept.line = source_.String(most->first->line);
  kept.is_running = passes_.back().end == 0;
  for (const auto& [pass, bytes] : made) kept.bytes += bytes;
  return kept;
}

std::vector<CapturedBlock> UntrainedWatch::BlocksOfOtherPasses(
    const std::vector<CapturedBlock>& captured, const LiveSet& live) const {
  std::vector<CapturedBlock> others = captured;
  std::erase_if(
      others, [&](const CapturedBlock& entry) { return MakerOf(live.block(entry.id)) != nullptr; });
  return others;
}

}  // namespace memtrace::analysis
