// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/holes.h"

#include <algorithm>
#include <iterator>

namespace memtrace {
namespace {

Bytes FreeSize(const Block* block) {
  return block != nullptr && block->is(Block::State::kFree) ? block->size : 0;
}

}  // namespace

Block* Holes::At(DeviceAddress address) const {
  const auto after = holes_.upper_bound(address);
  if (after == holes_.begin()) return nullptr;
  Block* hole = std::prev(after)->second;
  return address < hole->end() ? hole : nullptr;
}

std::optional<Growth> Holes::PlanGrowth(Bytes size) const {
  std::optional<Growth> best;
  for (const auto& entry : holes_) {
    Block* const hole = entry.second;
    const Bytes below = FreeSize(hole->previous);
    const Bytes above = FreeSize(hole->next);
    if (below + hole->size + above < size) continue;
    // At the bottom of the hole the request starts in the free range below, at the top it ends in
    // the one above; if neither is enough, all of the hole is mapped.
    const auto missing = [&](Bytes beside) {
      return std::min(hole->size, RoundUp(size - std::min(size, beside), granularity_));
    };
    const bool at_bottom = missing(below) <= missing(above);
    const Bytes mapped = at_bottom ? missing(below) : missing(above);
    if (mapped == 0 || (best.has_value() && best->size <= mapped)) continue;
    best = Growth{hole, at_bottom ? hole->address : hole->end() - mapped, mapped};
  }
  return best;
}

Bytes Holes::Obtainable(Bytes available) const {
  Bytes most = 0;
  for (const auto& [address, hole] : holes_) {
    const Bytes below = FreeSize(hole->previous);
    const Bytes above = FreeSize(hole->next);
    const Bytes fits =
        available < hole->size ? std::max(below, above) + available : below + hole->size + above;
    most = std::max(most, fits);
  }
  return most;
}

}  // namespace memtrace
