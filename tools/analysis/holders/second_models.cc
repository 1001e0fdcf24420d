// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/second_models.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {
namespace {

using trace::Role;

// Bytes of the models of one owner.
struct Models {
  uint64_t parameters = 0;
  uint64_t buffers = 0;
  uint64_t copies = 0;  // of `parameters`
  bool is_trained = false;

  // Another owner than that of the parameters may train, if a tag ended after the model was made.
  auto Rank() const { return std::pair(is_trained && parameters > 0, parameters); }
};

struct StatedParameter {
  trace::StringId owner = 0;
  trace::StringId path = 0;
  uint64_t bytes = 0;
  uint64_t sequence = 0;  // of its block

  auto Key() const { return std::tie(owner, path, bytes, sequence); }
  bool IsDuplicateOf(const StatedParameter& other) const {
    return std::tie(owner, path, bytes) == std::tie(other.owner, other.path, other.bytes);
  }
};

class Count {
 public:
  void Add(const Block& block, const Part& part) {
    Models& models = owners_[part.identity.owner];
    switch (part.identity.role) {
      case Role::kParameter:
        models.parameters += part.bytes;
        if (part.identity.evidence == Evidence::kStated && part.identity.path != 0)
          stated_.push_back({part.identity.owner, part.identity.path, part.bytes, block.sequence});
        return;
      case Role::kBuffer:
        models.buffers += part.bytes;
        return;
      case Role::kGradient:
      case Role::kOptimizerState:
        models.is_trained = true;
        return;
      default:
        return;
    }
  }

  SecondModels Take() {
    CountCopies();
    const auto first = std::max_element(
        owners_.begin(), owners_.end(),
        [](const auto& a, const auto& b) { return a.second.Rank() < b.second.Rank(); });
    SecondModels second;
    for (auto owner = owners_.begin(); owner != owners_.end(); ++owner) {
      const Models& models = owner->second;
      const bool is_first = owner == first || models.is_trained;
      second.parameters += is_first ? models.copies : models.parameters;
      second.buffers += is_first ? 0 : models.buffers;
    }
    return second;
  }

 private:
  void CountCopies() {
    std::sort(stated_.begin(), stated_.end(),
              [](const auto& a, const auto& b) { return a.Key() < b.Key(); });
    for (size_t i = 1; i < stated_.size(); ++i)
      if (stated_[i].IsDuplicateOf(stated_[i - 1]))
        owners_[stated_[i].owner].copies += stated_[i].bytes;
  }

  std::map<trace::StringId, Models> owners_;
  std::vector<StatedParameter> stated_;
};

}  // namespace

SecondModels FindSecondModels(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                              const EventSource& source) {
  Count count;
  for (const CapturedBlock& entry : captured) {
    if (entry.waiting) continue;
    const Block& block = live.block(entry.id);
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), source.best_evidence()))
      count.Add(block, part);
  }
  return count.Take();
}

}  // namespace memtrace::analysis
