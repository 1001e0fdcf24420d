// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/sections.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memtrace::analysis {
namespace {

struct Edge {
  uint64_t time;
  bool begins;  // ends come first: what ends now is not alive together with what begins now
  uint32_t index;
};

// A section is the set of items that are alive when something ends after something began.
void NumberSections(std::vector<Edge> edges, std::vector<SectionItem>& items) {
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.time != b.time ? a.time < b.time : a.begins < b.begins;
  });
  Section section = 0;
  bool has_begun = false;
  for (const Edge& edge : edges) {
    if (edge.begins) {
      items[edge.index].first = section;
      has_begun = true;
      continue;
    }
    if (std::exchange(has_begun, false)) ++section;
    items[edge.index].last = section;
  }
}

void RenumberSections(std::vector<SectionItem>& items) {
  std::vector<Edge> edges;
  edges.reserve(2 * items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    edges.push_back({items[i].first, true, i});
    edges.push_back({items[i].last, false, i});
  }
  NumberSections(std::move(edges), items);
}

}  // namespace

std::vector<SectionItem> ToSections(absl::Span<const PackingItem> items) {
  std::vector<SectionItem> kept;
  std::vector<Edge> edges;
  kept.reserve(items.size());
  edges.reserve(2 * items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    const PackingItem& item = items[i];
    if (item.size == 0 || item.begin >= item.end) continue;
    const auto index = static_cast<uint32_t>(kept.size());
    edges.push_back({item.begin, true, index});
    edges.push_back({item.end, false, index});
    kept.push_back({i, 0, 0, item.size, item.end - item.begin});
  }
  NumberSections(std::move(edges), kept);
  return kept;
}

Bytes HighestLoad(absl::Span<const SectionItem> items) {
  Section sections = 0;
  for (const SectionItem& item : items) sections = std::max(sections, item.last);
  // The differences have 128 bits because a section may hold more than 2^64 bytes.
  std::vector<__int128> change(sections + 1);
  for (const SectionItem& item : items) {
    change[item.first] += item.size;
    change[item.last] -= item.size;
  }
  __int128 load = 0;
  __int128 highest = 0;
  for (const __int128 by : change) highest = std::max(highest, load += by);
  return static_cast<Bytes>(std::min<__int128>(highest, std::numeric_limits<Bytes>::max()));
}

std::vector<std::vector<SectionItem>> SplitAtCuts(std::vector<SectionItem> items) {
  std::sort(items.begin(), items.end(), [](const SectionItem& a, const SectionItem& b) {
    return a.first != b.first ? a.first < b.first : a.id < b.id;
  });
  std::vector<std::vector<SectionItem>> groups;
  Section end = 0;
  for (const SectionItem& item : items) {
    if (groups.empty() || item.first >= end) groups.emplace_back();
    groups.back().push_back(item);
    end = std::max(end, item.last);
  }
  for (std::vector<SectionItem>& group : groups) RenumberSections(group);
  return groups;
}

}  // namespace memtrace::analysis
