// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/layers_to_come.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/layer_place.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

constexpr size_t kFewestDone = 3;
constexpr uint64_t kAlikeWithin = 10;  // a tenth

// Layers of one name.
struct Layers {
  std::map<uint64_t, uint64_t> kept;  // by layer: activations of the pass
  uint64_t last = 0;                  // with parameters
};

class LayersOfPass {
 public:
  LayersOfPass(const FailedRequest& failed, const LiveSet& live, const EventSource& source)
      : failed_(failed), live_(live), source_(source) {}

  void Add(BlockId id) {
    const Block& block = live_.block(id);
    for (const Part& part :
         PartsOf(block, live_.Labels(id), live_.position(), source_.best_evidence())) {
      if (part.identity.role == trace::Role::kParameter) AddParameter(part.identity.path);
      if (part.identity.role == trace::Role::kActivation &&
          block.birth.phase_run == failed_.at.phase_run)
        AddActivation(block.allocation.module, part.bytes);
    }
  }

  // Returns the layers that keep most.
  std::optional<std::pair<std::string, Layers>> Largest() const {
    const auto sum = [](const Layers& layers) {
      uint64_t bytes = 0;
      for (const auto& [layer, kept] : layers.kept) bytes += kept;
      return bytes;
    };
    const auto largest = std::max_element(
        found_.begin(), found_.end(),
        [&sum](const auto& a, const auto& b) { return sum(a.second) < sum(b.second); });
    if (largest == found_.end()) return std::nullopt;
    return *largest;
  }

 private:
  void AddParameter(trace::StringId path) {
    if (const auto& place = PlaceOf(path)) {
      uint64_t& last = found_[place->name].last;
      last = std::max(last, place->layer);
    }
  }
  void AddActivation(trace::StringId module, uint64_t bytes) {
    if (const auto& place = PlaceOf(module)) found_[place->name].kept[place->layer] += bytes;
  }
  const std::optional<LayerPlace>& PlaceOf(trace::StringId path) {
    const auto [known, is_new] = places_.try_emplace(path);
    if (is_new) known->second = LayerPlaceOf(source_.String(path));
    return known->second;
  }

  const FailedRequest& failed_;
  const LiveSet& live_;
  const EventSource& source_;
  std::map<trace::StringId, std::optional<LayerPlace>> places_;
  std::map<std::string, Layers> found_;
};

// Returns the mean of the layers beside `current`; nothing if they differ by more than a tenth.
std::optional<uint64_t> MeanOfEqualLayers(const std::map<uint64_t, uint64_t>& kept,
                                          uint64_t current) {
  uint64_t sum = 0;
  uint64_t count = 0;
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (const auto& [layer, bytes] : kept) {
    if (layer == current) continue;
    sum += bytes;
    ++count;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  if (count < kFewestDone || most - least > least / kAlikeWithin) return std::nullopt;
  return sum / count;
}

}  // namespace

uint64_t LayersToCome::WithoutBoundaries(uint64_t boundary) const {
  return Less(to_come, (layers - current) * boundary);
}

std::optional<LayersToCome> FindLayersToCome(const FailedRequest& failed,
                                             const std::vector<CapturedBlock>& captured,
                                             const LiveSet& live, const EventSource& source) {
  if (failed.at.phase != trace::Phase::kForward) return std::nullopt;
  LayersOfPass pass(failed, live, source);
  for (const CapturedBlock& entry : captured)
    if (!entry.waiting) pass.Add(entry.id);
  const auto largest = pass.Largest();
  if (!largest || largest->second.kept.empty()) return std::nullopt;
  const auto& [name, layers] = *largest;
  const auto& [current, kept_of_current] = *layers.kept.rbegin();
  const auto each = MeanOfEqualLayers(layers.kept, current);
  if (!each || layers.last <= current) return std::nullopt;
  return LayersToCome{.name = name,
                      .current = current,
                      .layers = layers.last + 1,
                      .each = *each,
                      .to_come = *each * (layers.last - current) + Less(*each, kept_of_current)};
}

}  // namespace memtrace::analysis
