// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/packing.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/analysis/packing/group.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {
namespace {

// Items that are packed alone, upwards from `base`.
struct Group {
  Bytes base;
  std::vector<SectionItem> items;
};

// Splits items into groups, recursively: items that are alive as long as their whole group can lie
// below the rest of it without loss, and without them the rest may fall apart.
class Decomposition {
 public:
  Decomposition(std::vector<SectionItem> items, std::vector<Bytes>& offsets) : offsets_(offsets) {
    Split({0, std::move(items)}, 0);
  }

  std::vector<Group> Take() && { return std::move(groups_); }

 private:
  // A limit, because each depth looks at all items; a search can start as well at any depth.
  static constexpr int kGreatestDepth = 64;

  void Split(Group whole, int depth) {
    for (std::vector<SectionItem>& items : SplitAtCuts(std::move(whole.items))) {
      Group group{whole.base, std::move(items)};
      const bool has_sunk = depth < kGreatestDepth && PlaceSpanningItems(group);
      if (has_sunk) {
        Split(std::move(group), depth + 1);
      } else {
        groups_.push_back(std::move(group));
      }
    }
  }

  bool PlaceSpanningItems(Group& group) {
    Section sections = 0;
    for (const SectionItem& item : group.items) sections = std::max(sections, item.last);
    return std::erase_if(group.items, [&](const SectionItem& item) {
             if (item.last - item.first != sections) return false;
             offsets_[item.id] = group.base;
             group.base = SaturatingAdd(group.base, item.size);
             return true;
           }) != 0;
  }

  std::vector<Bytes>& offsets_;
  std::vector<Group> groups_;
};

struct PackedGroup {
  const Group* group;
  GroupPacking packing;

  Bytes height() const { return SaturatingAdd(group->base, packing.height()); }
  Bytes least_height() const { return SaturatingAdd(group->base, packing.least_height()); }
};

std::vector<PackedGroup> PackEach(const std::vector<Group>& groups, uint64_t& steps) {
  std::vector<PackedGroup> packed;
  packed.reserve(groups.size());
  for (const Group& group : groups) packed.push_back({&group, GroupPacking(group.items, steps)});
  std::stable_sort(packed.begin(), packed.end(), [](const PackedGroup& a, const PackedGroup& b) {
    return a.height() > b.height();
  });
  return packed;
}

// Lowers the groups that are higher than `target`, the highest first. No other group needs to be
// lower than the height that this gives.
void Improve(std::vector<PackedGroup>& packed, Bytes target, uint64_t& steps) {
  const auto end = std::find_if(packed.begin(), packed.end(), [target](const PackedGroup& each) {
    return each.height() <= target;
  });
  auto left = static_cast<uint64_t>(end - packed.begin());
  for (auto each = packed.begin(); each != end; ++each, --left) {
    uint64_t share = steps / left;
    steps -= share;
    each->packing.Improve(target - std::min(target, each->group->base), share);
    steps += share;
    target = std::max(target, each->height());
  }
}

}  // namespace

Packing Pack(absl::Span<const PackingItem> items, const PackingBudget& budget) {
  Packing packing;
  packing.offsets.resize(items.size());
  std::vector<SectionItem> section_items = ToSections(items);
  packing.lower_bound = HighestLoad(section_items);
  const std::vector<Group> groups = Decomposition(std::move(section_items), packing.offsets).Take();
  uint64_t steps = budget.steps;
  std::vector<PackedGroup> packed = PackEach(groups, steps);
  Improve(packed, std::max(packing.lower_bound, budget.capacity), steps);
  Bytes least_height = packing.lower_bound;
  for (const PackedGroup& each : packed) {
    least_height = std::max(least_height, each.least_height());
    const std::vector<SectionItem>& members = each.group->items;
    for (size_t i = 0; i < members.size(); ++i) {
      packing.offsets[members[i].id] = SaturatingAdd(each.group->base, each.packing.offsets()[i]);
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].begin >= items[i].end) continue;
    packing.height = std::max(packing.height, SaturatingAdd(packing.offsets[i], items[i].size));
  }
  packing.is_optimal = packing.height <= least_height;
  packing.steps = budget.steps - steps;
  return packing;
}

}  // namespace memtrace::analysis
