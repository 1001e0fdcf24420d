// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/layer_counts.h"

#include <optional>
#include <set>

#include "tools/analysis/source/layer_place.h"

namespace memtrace::analysis {

std::map<std::string, uint64_t> CountLayers(const std::vector<CapturedBlock>& captured,
                                            const LiveSet& live, const EventSource& source) {
  std::map<std::string, std::set<uint64_t>> layers;
  for (const CapturedBlock& entry : captured) {
    if (entry.waiting) continue;
    for (const LabelledRange& range : live.Labels(entry.id)) {
      if (range.label.role != trace::Role::kParameter || range.label.path == 0) continue;
      if (const std::optional<LayerPlace> place = LayerPlaceOf(source.String(range.label.path)))
        layers[place->name].insert(place->layer);
    }
  }
  std::map<std::string, uint64_t> counts;
  for (const auto& [name, numbers] : layers) counts[name] = numbers.size();
  return counts;
}

}  // namespace memtrace::analysis
