// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/logits.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {
namespace {

constexpr uint64_t kSmallest = uint64_t{1} << 20;  // smaller blocks of a loss are its results

class Search {
 public:
  Search(const std::vector<CapturedBlock>& captured, const LiveSet& live, const EventSource& source)
      : captured_(captured), live_(live), source_(source) {}

  Logits Find() {
    ForEachBlock([this](const CapturedBlock&, const Block& block) {
      if (IsKnown(block)) sizes_.insert(block.allocation.requested);
    });
    Logits logits;
    ForEachBlock([&](const CapturedBlock& entry, const Block& block) {
      if (!IsKnown(block) && !IsOfTheirSize(block)) return;
      for (const Part& part :
           PartsOf(block, live_.Labels(entry.id), live_.position(), source_.best_evidence())) {
        if (part.identity.role == trace::Role::kActivation) logits.activations += part.bytes;
        if (part.identity.role == trace::Role::kTemporary) logits.temporaries += part.bytes;
      }
    });
    return logits;
  }

 private:
  template <typename Visit>
  void ForEachBlock(const Visit& visit) const {
    for (const CapturedBlock& entry : captured_) {
      const Block& block = live_.block(entry.id);
      if (!entry.waiting && block.allocation.requested >= kSmallest) visit(entry, block);
    }
  }

  bool IsKnown(const Block& block) {
    return IsHead(source_.String(block.allocation.module)) || IsOfLoss(block.allocation.stack);
  }

  bool IsOfLoss(trace::StackId stack) {
    const auto [entry, is_new] = is_of_loss_.try_emplace(stack, false);
    if (is_new) {
      const std::vector<trace::Frame> frames = source_.Stack(stack);
      entry->second = std::any_of(frames.begin(), frames.end(), IsOfLossFunction);
    }
    return entry->second;
  }

  bool IsOfTheirSize(const Block& block) const {
    const uint64_t bytes = block.allocation.requested;
    return block.allocation.module == 0 && (sizes_.contains(bytes) || sizes_.contains(2 * bytes) ||
                                            (bytes % 2 == 0 && sizes_.contains(bytes / 2)));
  }

  const std::vector<CapturedBlock>& captured_;
  const LiveSet& live_;
  const EventSource& source_;
  absl::flat_hash_map<trace::StackId, bool> is_of_loss_;
  std::set<uint64_t> sizes_;  // of the blocks that are known to be logits
};

}  // namespace

bool IsHead(std::string_view module) { return module == "lm_head" || module.ends_with(".lm_head"); }

bool IsOfLossFunction(const trace::Frame& frame) {
  constexpr std::array<std::string_view, 4> kNames = {"cross_entropy", "CrossEntropy",
                                                      "log_softmax", "nll_loss"};
  return std::any_of(kNames.begin(), kNames.end(), [&frame](std::string_view name) {
    return frame.function.find(name) != std::string::npos;
  });
}

Logits FindLogits(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                  const EventSource& source) {
  return Search(captured, live, source).Find();
}

}  // namespace memtrace::analysis
