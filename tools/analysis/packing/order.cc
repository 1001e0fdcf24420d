// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace memtrace::analysis {
namespace {

// Answers "the highest value in [first, last)" from the highest of every 2^k values in a row.
class RangeMaximum {
 public:
  explicit RangeMaximum(std::vector<Bytes> values) {
    rows_.push_back(std::move(values));
    for (size_t half = 1; 2 * half <= rows_.front().size(); half *= 2) {
      const std::vector<Bytes>& below = rows_.back();
      std::vector<Bytes> row(below.size() - half);
      for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(below[i], below[i + half]);
      rows_.push_back(std::move(row));
    }
  }

  Bytes Of(size_t first, size_t last) const {
    const std::vector<Bytes>& row = rows_[std::bit_width(last - first) - 1U];
    return std::max(row[first], row[last - std::bit_floor(last - first)]);
  }

 private:
  std::vector<std::vector<Bytes>> rows_;
};

// Returns, for each item, the most bytes alive in one of its sections (modulo 2^64, because only an
// order depends on it).
std::vector<Bytes> Loads(absl::Span<const SectionItem> items) {
  Section first = std::numeric_limits<Section>::max();
  Section last = 0;
  for (const SectionItem& item : items) {
    first = std::min(first, item.first);
    last = std::max(last, item.last);
  }
  if (items.empty()) return {};
  std::vector<Bytes> sections(last - first + 1);
  for (const SectionItem& item : items) {
    sections[item.first - first] += item.size;
    sections[item.last - first] -= item.size;
  }
  std::partial_sum(sections.begin(), sections.end(), sections.begin());
  const RangeMaximum highest(std::move(sections));
  std::vector<Bytes> loads;
  loads.reserve(items.size());
  for (const SectionItem& item : items) {
    loads.push_back(highest.Of(item.first - first, item.last - first));
  }
  return loads;
}

struct Keys {
  unsigned __int128 first;
  unsigned __int128 second;
  unsigned __int128 third;
  uint32_t index;
};

Keys KeysOf(const SectionItem& item, Bytes load, uint32_t index, PackingOrder order) {
  const unsigned __int128 lifetime = item.lifetime;
  const unsigned __int128 area = lifetime * item.size;
  switch (order) {
    case PackingOrder::kLifetimeAreaLoad:
      return {lifetime, area, load, index};
    case PackingOrder::kLoadAreaLifetime:
      return {load, area, lifetime, index};
    case PackingOrder::kLoadLifetimeArea:
      break;
  }
  return {load, lifetime, area, index};
}

}  // namespace

std::vector<uint32_t> Ranks(absl::Span<const SectionItem> items, PackingOrder order) {
  const std::vector<Bytes> loads = Loads(items);
  std::vector<Keys> keys;
  keys.reserve(items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    keys.push_back(KeysOf(items[i], loads[i], i, order));
  }
  std::sort(keys.begin(), keys.end(), [](const Keys& a, const Keys& b) {
    return std::tie(b.first, b.second, b.third, a.index) <
           std::tie(a.first, a.second, a.third, b.index);
  });
  std::vector<uint32_t> ranks(items.size());
  for (uint32_t rank = 0; rank < keys.size(); ++rank) ranks[keys[rank].index] = rank;
  return ranks;
}

}  // namespace memtrace::analysis
