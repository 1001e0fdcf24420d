// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/cycle_packing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace memtrace::analysis {
namespace {

using Items = std::vector<PackingItem>;

bool IsEmpty(const PackingItem& item) { return item.begin >= item.end || item.size == 0; }

// Returns the most bytes alive at one time; wrapped blocks count only at their two times.
Bytes LowerBound(const TimeLine& line) {
  Items items = line.items;
  items.reserve(items.size() + line.wrapped.size());
  for (const TimeLine::Wrapped& wrapped : line.wrapped) {
    PackingItem second = items[wrapped.item];
    items[wrapped.item].end = wrapped.free_from;
    second.begin = wrapped.free_until;
    items.push_back(second);
  }
  return Pack(items, {.steps = 0}).lower_bound;
}

uint64_t TimeOfPeak(const Items& items) {
  std::vector<std::pair<uint64_t, int64_t>> changes;  // ends before begins
  changes.reserve(2 * items.size());
  for (const PackingItem& item : items) {
    if (IsEmpty(item)) continue;
    changes.emplace_back(item.begin, static_cast<int64_t>(item.size));
    changes.emplace_back(item.end, static_cast<int64_t>(0 - item.size));
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  int64_t most = 0;
  uint64_t peak = 0;
  for (const auto& [time, change] : changes) {
    live += change;
    if (live <= most) continue;
    most = live;
    peak = time;
  }
  return peak;
}

// The place of a wrapped block while the block is gone; others lie in it, first fit.
class Window {
 public:
  Window(uint64_t from, uint64_t until, Bytes size) : from_(from), until_(until), size_(size) {}

  // Returns an offset in the window if the item fits and is there only while the window is free.
  std::optional<Bytes> Fit(const PackingItem& item) {
    if (item.begin < from_ || item.end > until_) return std::nullopt;
    Bytes offset = 0;
    auto after = guests_.begin();
    for (; after != guests_.end() && after->offset < offset + item.size; ++after) {
      const bool meets = after->item.begin < item.end && item.begin < after->item.end;
      if (meets) offset = std::max(offset, after->offset + after->item.size);
    }
    if (item.size > size_ || offset > size_ - item.size) return std::nullopt;
    const auto place = std::find_if(guests_.begin(), guests_.end(),
                                    [&](const Guest& g) { return g.offset > offset; });
    guests_.insert(place, {item, offset});
    return offset;
  }

 private:
  struct Guest {
    PackingItem item;
    Bytes offset = 0;
  };

  const uint64_t from_;
  const uint64_t until_;
  const Bytes size_;
  std::vector<Guest> guests_;  // by offset
};

// Orders the items that make the peak before the others, each by size.
std::vector<size_t> PeakItemsFirst(const Items& items) {
  const uint64_t peak = TimeOfPeak(items);
  const auto makes_peak = [&](size_t i) { return items[i].begin <= peak && peak < items[i].end; };
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (makes_peak(a) != makes_peak(b)) return makes_peak(a);
    return items[a].size > items[b].size;
  });
  return order;
}

// Puts wrapped blocks at the bottom, as many others as possible in their places, and the rest
// above.
Packing PackAbove(const TimeLine& line, const PackingBudget& budget) {
  Items rest = line.items;
  std::vector<std::optional<Bytes>> settled(rest.size());
  Bytes bottom = 0;
  for (const TimeLine::Wrapped& wrapped : line.wrapped) {
    settled[wrapped.item] = bottom;
    bottom += rest[wrapped.item].size;
    rest[wrapped.item] = {};
  }
  const auto fill = [&](Window window, Bytes at) {
    for (const size_t i : PeakItemsFirst(rest)) {
      if (IsEmpty(rest[i])) continue;
      const auto offset = window.Fit(rest[i]);
      if (!offset.has_value()) continue;
      settled[i] = at + *offset;
      rest[i] = {};
    }
  };
  for (const TimeLine::Wrapped& wrapped : line.wrapped) {
    const PackingItem& item = line.items[wrapped.item];
    fill({wrapped.free_from, wrapped.free_until, item.size}, *settled[wrapped.item]);
    fill({0, item.begin, item.size}, *settled[wrapped.item]);
  }
  Packing packing = Pack(rest, budget);
  packing.height += bottom;
  for (size_t i = 0; i < rest.size(); ++i) {
    packing.offsets[i] = settled[i].value_or(packing.offsets[i] + bottom);
  }
  return packing;
}

}  // namespace

Packing PackCycle(const TimeLine& line, const PackingBudget& budget) {
  Packing best = Pack(line.items, budget);
  const Bytes lower_bound = LowerBound(line);
  if (best.height > lower_bound && !line.wrapped.empty()) {
    Packing other = PackAbove(line, budget);
    if (other.height < best.height) best = std::move(other);
  }
  best.is_optimal = best.height == lower_bound || (best.is_optimal && line.wrapped.empty());
  best.lower_bound = lower_bound;
  for (const auto& [item, wrapped] : line.predecessors) best.offsets[item] = best.offsets[wrapped];
  return best;
}

}  // namespace memtrace::analysis
