// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/repeated_layers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/layer_place.h"

namespace memtrace::analysis {
namespace {

constexpr uint64_t kFewest = 4;

struct Group {
  std::map<uint64_t, uint64_t> layers;
  std::map<uint64_t, uint64_t> sizes;  // -> how many blocks
  trace::StackId stack = 0;            // of one of them
};

RepeatedLayers Measured(const std::string& name, const Group& group,
                        const std::vector<trace::Frame>& stack) {
  RepeatedLayers layers;
  layers.name = name;
  layers.count = group.layers.size();
  for (const auto& [layer, bytes] : group.layers) {
    layers.bytes += bytes;
    layers.largest = std::max(layers.largest, bytes);
  }
  const auto most =
      std::max_element(group.sizes.begin(), group.sizes.end(), [](const auto& a, const auto& b) {
        return std::tie(a.second, a.first) < std::tie(b.second, b.first);
      });
  layers.boundary = most->first;
  layers.is_of_transformers = IsWithinTransformers(stack);
  layers.is_in_users_module = IsWithinUsersModule(stack);
  layers.is_checkpointed = IsCheckpointed(stack);
  layers.is_transformed = IsOfFunctionTransform(stack);
  return layers;
}

}  // namespace

std::vector<RepeatedLayers> FindRepeatedLayers(const std::vector<CapturedBlock>& captured,
                                               const LiveSet& live, const EventSource& source) {
  std::map<std::string, Group> groups;
  std::map<trace::StringId, std::optional<LayerPlace>> places;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    const trace::Allocate& allocation = block.allocation;
    if (entry.waiting || allocation.module == 0) continue;
    const auto [place, is_new] = places.try_emplace(allocation.module);
    if (is_new) place->second = LayerPlaceOf(source.String(allocation.module));
    if (!place->second) continue;
    uint64_t bytes = 0;
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), source.best_evidence())) {
      if (part.identity.role == trace::Role::kActivation) bytes += part.bytes;
    }
    if (bytes == 0) continue;
    Group& group = groups[place->second->name];
    group.stack = allocation.stack;
    group.layers[place->second->layer] += bytes;
    // Masks and the norms' figures are small and many, so they do not count.
    if (bytes >= 64 << 10) ++group.sizes[bytes];
  }
  std::vector<RepeatedLayers> found;
  for (const auto& [name, group] : groups) {
    if (group.layers.size() >= kFewest && !group.sizes.empty())
      found.push_back(Measured(name, group, source.Stack(group.stack)));
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const RepeatedLayers& a, const RepeatedLayers& b) { return a.bytes > b.bytes; });
  return found;
}

}  // namespace memtrace::analysis
