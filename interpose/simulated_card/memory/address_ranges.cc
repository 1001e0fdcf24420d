// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/address_ranges.h"

#include <algorithm>
#include <iterator>

#include "base/units.h"

namespace memtrace::card {

Address AddressRanges::Take(std::uint64_t bytes, std::uint64_t alignment) {
  Address begin = FirstFit(next_, bytes, alignment);
  if (begin.is_null()) begin = FirstFit(kBegin, bytes, alignment);
  if (begin.is_null()) return {};
  taken_.emplace(begin, bytes);
  next_ = begin + bytes;
  return begin;
}

bool AddressRanges::TakeAt(Address address, std::uint64_t bytes) {
  if (address < kBegin || bytes > kHeap - kBegin || address > kHeap - bytes) return false;
  const auto after = taken_.upper_bound(address);
  if (after != taken_.end() && after->first < address + bytes) return false;
  if (after != taken_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second > address) return false;
  }
  taken_.emplace(address, bytes);
  next_ = std::max(next_, address + bytes);
  return true;
}

void AddressRanges::GiveBack(Address begin) { taken_.erase(begin); }

AddressRanges::Range AddressRanges::Find(Address address) const {
  const auto after = taken_.upper_bound(address);
  if (after == taken_.begin()) return {};
  const auto& [begin, bytes] = *std::prev(after);
  if (address - begin >= bytes) return {};
  return {begin, bytes};
}

// The lowest unused place at or above from, 0 if there is none.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as Take has them.
Address AddressRanges::FirstFit(Address from, std::uint64_t bytes, std::uint64_t alignment) const {
  if (bytes > kHeap - kBegin || alignment > kEnd.value()) return {};
  const auto align = [alignment](Address a) { return Address{RoundUp(a.value(), alignment)}; };
  Address candidate = align(from);
  auto next = taken_.upper_bound(candidate);
  if (next != taken_.begin()) {
    const auto& [begin, taken] = *std::prev(next);
    if (begin + taken > candidate) candidate = align(begin + taken);
  }
  for (; next != taken_.end() && next->first < candidate + bytes; ++next) {
    candidate = align(next->first + next->second);
  }
  return candidate <= kHeap - bytes ? candidate : Address();
}

}  // namespace memtrace::card
