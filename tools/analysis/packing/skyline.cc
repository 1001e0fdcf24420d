// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/skyline.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "tools/analysis/packing/waiting.h"

namespace memtrace::analysis {
namespace {

// The height that the items have reached in each section, as level stretches whose neighbours have
// other heights.
class Skyline {
 public:
  explicit Skyline(Section sections) { Insert(0, {sections, 0}); }

  struct Stretch {
    Section first;
    Section last;
    Bytes height;
  };
  Stretch Lowest() const {
    const auto [height, first] = *by_height_.begin();
    return {first, stretches_.find(first)->second.last, height};
  }

  // REQUIRES: [first, last) lies within `stretch`, which is one of the skyline; `height` is
  // greater.
  void Raise(const Stretch& stretch, Section first, Section last, Bytes height) {
    Erase(stretch.first);
    if (stretch.first < first) Insert(stretch.first, {first, stretch.height});
    if (last < stretch.last) Insert(last, {stretch.last, stretch.height});
    InsertJoined(first, last, height);
  }

  // Returns the height of the lower neighbour of `stretch`; 2^64 - 1 if it has none.
  Bytes LowerNeighbour(const Stretch& stretch) const {
    Bytes height = std::numeric_limits<Bytes>::max();
    const auto at = stretches_.find(stretch.first);
    if (at != stretches_.begin()) height = std::prev(at)->second.height;
    if (std::next(at) != stretches_.end()) height = std::min(height, std::next(at)->second.height);
    return height;
  }

 private:
  struct Value {
    Section last;
    Bytes height;
  };

  void Insert(Section first, const Value& value) {
    stretches_.emplace(first, value);
    by_height_.emplace(value.height, first);
  }
  void Erase(Section first) {
    const auto at = stretches_.find(first);
    by_height_.erase({at->second.height, first});
    stretches_.erase(at);
  }
  void InsertJoined(Section first, Section last, Bytes height) {
    const auto after = stretches_.lower_bound(first);
    if (after != stretches_.end() && after->second.height == height) {
      const Section joined = after->first;
      last = after->second.last;
      Erase(joined);
    }
    const auto from = stretches_.lower_bound(first);
    if (from != stretches_.begin() && std::prev(from)->second.height == height) {
      first = std::prev(from)->first;
      Erase(first);
    }
    Insert(first, {last, height});
  }

  absl::btree_map<Section, Value> stretches_;  // by their first section
  absl::btree_set<std::pair<Bytes, Section>> by_height_;
};

}  // namespace

std::vector<Bytes> FillSkyline(absl::Span<const SectionItem> items,
                               absl::Span<const uint32_t> ranks) {
  Section sections = 0;
  for (const SectionItem& item : items) sections = std::max(sections, item.last);
  std::vector<Bytes> offsets(items.size());
  WaitingItems waiting(items, ranks);
  Skyline skyline(sections);
  for (size_t placed = 0; placed < items.size();) {
    const Skyline::Stretch lowest = skyline.Lowest();
    const std::optional<uint32_t> index = waiting.LowestRankWithin(lowest.first, lowest.last);
    if (!index) {
      skyline.Raise(lowest, lowest.first, lowest.last, skyline.LowerNeighbour(lowest));
      continue;
    }
    const SectionItem& item = items[*index];
    offsets[*index] = lowest.height;
    skyline.Raise(lowest, item.first, item.last, SaturatingAdd(lowest.height, item.size));
    waiting.Remove(*index);
    ++placed;
  }
  return offsets;
}

}  // namespace memtrace::analysis
