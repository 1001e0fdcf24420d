// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/mapped_ranges.h"

#include <algorithm>

namespace memtrace::trace {

void MappedRanges::Map(uint64_t address, uint64_t size) {
  if (size == 0 || address + size < address) return;
  Unmap(address, size);  // counts memory once that is mapped twice after lost events
  bytes_ += size;
  most_bytes_ = std::max(most_bytes_, bytes_);
  uint64_t end = address + size;
  auto after = ranges_.lower_bound(address);
  if (after != ranges_.end() && after->first == end) {
    end = after->second;
    after = ranges_.erase(after);
  }
  if (after != ranges_.begin() && std::prev(after)->second == address) {
    std::prev(after)->second = end;
  } else {
    ranges_.emplace_hint(after, address, end);
  }
}

void MappedRanges::Unmap(uint64_t address, uint64_t size) {
  if (size == 0 || address + size < address) return;
  const uint64_t end = address + size;
  auto range = ranges_.lower_bound(address);
  if (range != ranges_.begin() && std::prev(range)->second > address) --range;
  while (range != ranges_.end() && range->first < end) {
    const auto [old_begin, old_end] = *range;
    range = ranges_.erase(range);
    bytes_ -= std::min(end, old_end) - std::max(address, old_begin);
    if (old_begin < address) range = std::next(ranges_.emplace(old_begin, address).first);
    if (old_end > end) range = std::next(ranges_.emplace(end, old_end).first);
  }
}

bool MappedRanges::Contains(uint64_t address) const {
  const auto behind = ranges_.upper_bound(address);
  return behind != ranges_.begin() && address < std::prev(behind)->second;
}

bool MappedRanges::Covers(uint64_t address, uint64_t size) const {
  const auto behind = ranges_.upper_bound(address);
  if (behind == ranges_.begin()) return size == 0;
  const uint64_t end = std::prev(behind)->second;
  return address <= end && size <= end - address;
}

void MappedRanges::ForEach(const std::function<void(uint64_t, uint64_t)>& visit) const {
  for (const auto& [begin, end] : ranges_) visit(begin, end);
}

}  // namespace memtrace::trace
