// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/waiting.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace memtrace::analysis {
namespace {
constexpr uint32_t kRemoved = std::numeric_limits<uint32_t>::max();
}  // namespace

WaitingItems::WaitingItems(absl::Span<const SectionItem> items, absl::Span<const uint32_t> ranks)
    : nodes_(2 * std::bit_ceil(items.size()), Node{0, 0, kRemoved, 0, kRemoved}),
      leaf_(items.size()),
      index_(items.size()) {
  std::vector<Entry> entries;
  entries.reserve(items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    entries.push_back({items[i].first, items[i].last, ranks[i], i});
    index_[ranks[i]] = i;
  }
  if (!entries.empty()) Build(0, entries.begin(), entries.end(), true);
}

void WaitingItems::Build(uint32_t node, std::vector<Entry>::iterator begin,
                         std::vector<Entry>::iterator end, bool by_first) {
  if (end - begin == 1) {
    nodes_[node] = {begin->first, begin->first, begin->last, begin->last, begin->rank};
    leaf_[begin->index] = node;
    return;
  }
  const auto middle = begin + (end - begin) / 2;
  std::nth_element(begin, middle, end, [by_first](const Entry& a, const Entry& b) {
    return by_first ? a.first < b.first : a.last < b.last;
  });
  Build(2 * node + 1, begin, middle, !by_first);
  Build(2 * node + 2, middle, end, !by_first);
  const Node& a = nodes_[2 * node + 1];
  const Node& b = nodes_[2 * node + 2];
  nodes_[node] = {std::min(a.lowest_first, b.lowest_first),
                  std::max(a.highest_first, b.highest_first),
                  std::min(a.lowest_last, b.lowest_last), std::max(a.highest_last, b.highest_last),
                  std::min(a.lowest_rank, b.lowest_rank)};
}

std::optional<uint32_t> WaitingItems::LowestRankWithin(Section first, Section last) const {
  uint32_t lowest_rank = kRemoved;
  Seek(0, first, last, lowest_rank);
  if (lowest_rank == kRemoved) return std::nullopt;
  return index_[lowest_rank];
}

void WaitingItems::Seek(uint32_t node, Section first, Section last, uint32_t& lowest_rank) const {
  const Node& at = nodes_[node];
  if (at.lowest_rank >= lowest_rank || at.highest_first < first || at.lowest_last > last) return;
  if (at.lowest_first >= first && at.highest_last <= last) {
    lowest_rank = at.lowest_rank;
    return;
  }
  // Looks first into the half with the lower rank, because the other is then often skipped.
  const uint32_t half = 2 * node + 1;
  const uint32_t second = nodes_[half + 1].lowest_rank < nodes_[half].lowest_rank ? 0 : 1;
  Seek(half + 1 - second, first, last, lowest_rank);
  Seek(half + second, first, last, lowest_rank);
}

void WaitingItems::Remove(uint32_t index) {
  uint32_t node = leaf_[index];
  nodes_[node].lowest_rank = kRemoved;
  while (node != 0) {
    node = (node - 1) / 2;
    nodes_[node].lowest_rank =
        std::min(nodes_[2 * node + 1].lowest_rank, nodes_[2 * node + 2].lowest_rank);
  }
}

}  // namespace memtrace::analysis
