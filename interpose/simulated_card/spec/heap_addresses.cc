// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/spec/heap_addresses.h"

#include <algorithm>
#include <iterator>

#include "base/units.h"

namespace memtrace::card {
namespace {

constexpr std::uint64_t kAreaUnit = 32_MiB;

// The holes that a new context leaves in areas of its own, and the distance below them at which a
// program's first area ends, as measured.
constexpr std::uint64_t kLowerHole = 2_MiB;
constexpr std::uint64_t kUpperHole = 24_MiB;
constexpr std::uint64_t kBetweenHoles = 74_MiB;  // from begin to begin
constexpr std::uint64_t kBelowHoles = 414_MiB;   // from the lower hole's begin

}  // namespace

HeapAddresses::HeapAddresses(Address begin, Address end) : begin_(begin), end_(end) {
  const Address upper = end - kAreaUnit;
  const Address lower = upper - kBetweenHoles;
  const Address first = lower - kBelowHoles;
  areas_.emplace(first, Area{.bytes = end - first,
                             .is_contexts = true,
                             .holes = {{lower, kLowerHole}, {upper, kUpperHole}}});
}

// Returns the lower end of the smallest hole that is large enough; null if there is none.
HeapAddresses::Address HeapAddresses::CutFrom(Area& area, std::uint64_t bytes) {
  auto best = area.holes.end();
  for (auto hole = area.holes.begin(); hole != area.holes.end(); ++hole) {
    if (hole->second < bytes) continue;
    if (best == area.holes.end() || hole->second < best->second) best = hole;
  }
  if (best == area.holes.end()) return {};
  const auto [begin, room] = *best;
  area.holes.erase(best);
  if (room > bytes) area.holes.emplace(begin + bytes, room - bytes);
  area.used += bytes;
  return begin;
}

// Returns the upper end of the highest gap that is larger; null if there is none.
HeapAddresses::Address HeapAddresses::PlaceForArea(std::uint64_t bytes) const {
  Address gap_end = end_;
  for (auto area = areas_.rbegin(); area != areas_.rend(); ++area) {
    const Address area_end = area->first + area->second.bytes;
    if (gap_end - area_end > bytes) return gap_end - bytes;
    gap_end = area->first;
  }
  return gap_end - begin_ > bytes ? gap_end - bytes : Address();
}

HeapAddresses::Address HeapAddresses::Take(std::uint64_t bytes) {
  for (auto& [begin, area] : areas_) {
    const Address place = CutFrom(area, bytes);
    if (!place.is_null()) return place;
  }
  if (bytes > end_ - begin_) return {};
  const std::uint64_t whole = RoundUp(bytes, kAreaUnit);
  const Address begin = PlaceForArea(whole);
  if (begin.is_null()) return {};
  Area& area = areas_.emplace(begin, Area{.bytes = whole}).first->second;
  area.holes.emplace(begin, whole);
  return CutFrom(area, bytes);
}

void HeapAddresses::GiveBack(Address begin, std::uint64_t bytes) {
  const auto found = std::prev(areas_.upper_bound(begin));
  Area& area = found->second;
  area.used -= bytes;
  if (area.used == 0 && !area.is_contexts) {
    areas_.erase(found);
    return;
  }
  Address hole = begin;
  std::uint64_t room = bytes;
  auto after = area.holes.upper_bound(begin);
  if (after != area.holes.end() && after->first == begin + bytes) {
    room += after->second;
    after = area.holes.erase(after);
  }
  if (after != area.holes.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      hole = before->first;
      room += before->second;
      area.holes.erase(before);
    }
  }
  area.holes.emplace(hole, room);
}

}  // namespace memtrace::card
