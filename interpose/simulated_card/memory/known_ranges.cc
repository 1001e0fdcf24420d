// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/known_ranges.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace memtrace::card {

void KnownRanges::Set(std::span<const Extent> extents, Known known) {
  if (known == Known::kUnknown && empty_) return;
  const MutexLock lock(mutex_);
  for (const Extent& extent : extents)
    SetLocked(extent.offset, extent.offset + extent.bytes, known);
  empty_ = ranges_.empty();
}

void KnownRanges::ForgetAll() {
  if (empty_) return;
  const MutexLock lock(mutex_);
  ranges_.clear();
  empty_ = true;
}

void KnownRanges::Assume(std::span<const Extent> extents) {
  const MutexLock lock(mutex_);
  for (const Extent& extent : extents) AssumeLocked(extent.offset, extent.offset + extent.bytes);
  empty_ = ranges_.empty();
}

void KnownRanges::AssumeLocked(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;  // collected before the ranges change
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin()) --range;
  for (; range != ranges_.end() && range->first < end; ++range) {
    if (range->second.end <= begin) continue;
    if (range->first > begin) gaps.emplace_back(begin, range->first);
    begin = range->second.end;
  }
  if (begin < end) gaps.emplace_back(begin, end);
  for (const auto& [from, to] : gaps) SetLocked(from, to, Known::kAssumed);
}

Known KnownRanges::Weakest(std::span<const Extent> extents) const {
  Known weakest = Known::kKnown;
  const MutexLock lock(mutex_);
  for (const Extent& extent : extents) {
    weakest = std::min(weakest, WeakestLocked(extent.offset, extent.offset + extent.bytes));
  }
  return weakest;
}

void KnownRanges::Read(std::span<const Extent> extents, std::span<char> states) const {
  std::fill(states.begin(), states.end(), static_cast<char>(Known::kUnknown));
  const MutexLock lock(mutex_);
  for (const auto& [offset, bytes] : extents) {
    auto range = ranges_.upper_bound(offset);
    if (range != ranges_.begin()) --range;
    for (; range != ranges_.end() && range->first < offset + bytes; ++range) {
      const std::uint64_t begin = std::max(range->first, offset);
      const std::uint64_t end = std::min(range->second.end, offset + bytes);
      if (begin >= end) continue;
      const auto part = states.subspan(begin - offset, end - begin);
      std::fill(part.begin(), part.end(), static_cast<char>(range->second.known));
    }
    states = states.subspan(bytes);
  }
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as memcpy has them.
void KnownRanges::Copy(std::span<const Extent> to, std::span<const Extent> from) {
  if (empty_) return;
  const MutexLock lock(mutex_);
  auto target = to.begin();
  Extent room = target == to.end() ? Extent{} : *target;
  for (Extent rest : from) {
    while (rest.bytes > 0 && target != to.end()) {
      const std::uint64_t part = std::min(rest.bytes, room.bytes);
      CopyLocked(room.offset, rest.offset, part);
      rest = {rest.offset + part, rest.bytes - part};
      room = {room.offset + part, room.bytes - part};
      if (room.bytes == 0 && ++target != to.end()) room = *target;
    }
  }
  empty_ = ranges_.empty();
}

// Splits the range that contains `at` there.
void KnownRanges::SplitAt(std::uint64_t at) {
  const auto after = ranges_.upper_bound(at);
  if (after == ranges_.begin()) return;
  const auto range = std::prev(after);
  if (range->first == at || range->second.end <= at) return;
  ranges_.emplace_hint(after, at, range->second);
  range->second.end = at;
}

void KnownRanges::SetLocked(std::uint64_t begin, std::uint64_t end, Known known) {
  if (begin >= end) return;
  SplitAt(begin);
  SplitAt(end);
  auto next = ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
  if (known == Known::kUnknown) return;
  // Equal neighbours are merged, or a tensor written row by row would stay in rows.
  if (next != ranges_.end() && next->first == end && next->second.known == known) {
    end = next->second.end;
    next = ranges_.erase(next);
  }
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second.end == begin && before->second.known == known) {
      before->second.end = end;
      return;
    }
  }
  ranges_.emplace_hint(next, begin, Range{.end = end, .known = known});
}

Known KnownRanges::WeakestLocked(std::uint64_t begin, std::uint64_t end) const {
  Known weakest = Known::kKnown;
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin()) --range;
  while (begin < end) {
    if (range == ranges_.end() || range->first > begin || range->second.end <= begin) {
      return Known::kUnknown;
    }
    weakest = std::min(weakest, range->second.known);
    begin = range->second.end;
    ++range;
  }
  return weakest;
}

void KnownRanges::CopyLocked(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  // Parts of the source, read before the target changes.
  std::vector<std::pair<std::uint64_t, Range>> parts;
  auto range = ranges_.upper_bound(from);
  if (range != ranges_.begin()) --range;
  for (; range != ranges_.end() && range->first < from + bytes; ++range) {
    const std::uint64_t begin = std::max(range->first, from);
    const std::uint64_t end = std::min(range->second.end, from + bytes);
    if (begin < end) parts.push_back({begin, {.end = end, .known = range->second.known}});
  }
  SetLocked(to, to + bytes, Known::kUnknown);
  for (const auto& [begin, part] : parts) {
    SetLocked(to + (begin - from), to + (part.end - from), part.known);
  }
}

}  // namespace memtrace::card
