// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/guessed_segments.h"

#include <algorithm>
#include <iterator>

namespace memtrace::interchange {
namespace {

// An address beyond those of any card.
constexpr uint64_t kFar = uint64_t{1} << 60;

bool Overlaps(const std::map<uint64_t, uint64_t>& ranges, uint64_t begin, uint64_t end) {
  const auto after = ranges.lower_bound(end);
  return after != ranges.begin() && std::prev(after)->second > begin;
}

}  // namespace

bool GuessedSegments::IsEmpty(uint64_t begin, uint64_t end) const {
  return !Overlaps(blocks_, begin, end);
}

bool GuessedSegments::IsUnmapped(uint64_t begin, uint64_t end) const {
  return begin < end && end <= kFar && !Overlaps(segments_, begin, end);
}

void GuessedSegments::Allocate(uint64_t address, uint64_t bytes, uint64_t reserved,
                               const Visit& visit) {
  Settle(address, reserved, visit);
  if (address < kFar && bytes < kFar) blocks_[address] = address + bytes;
}

void GuessedSegments::Free(uint64_t address, uint64_t reserved, const Visit& visit) {
  blocks_.erase(address);
  Settle(address, reserved, visit);
}

void GuessedSegments::Settle(uint64_t address, uint64_t reserved, const Visit& visit) {
  const uint64_t now = std::min(reserved, kFar);
  if (now > sum_) Grow(address, now - sum_, visit);
  if (now < sum_) Shrink(sum_ - now, visit);
  sum_ = now;
}

void GuessedSegments::Grow(uint64_t address, uint64_t bytes, const Visit& visit) {
  uint64_t begin = std::min(address, kFar);
  const auto after = segments_.upper_bound(begin);
  if (after != segments_.begin()) begin = std::max(begin, std::prev(after)->second);
  if (IsUnmapped(begin, begin + bytes)) {
    segments_[begin] = begin + bytes;
  } else {
    begin = kFar + far_;
    far_ += bytes;
  }
  visit(trace::Map{.device = device_, .address = begin, .size = bytes});
}

void GuessedSegments::Shrink(uint64_t bytes, const Visit& visit) {
  const auto unmap = [&](uint64_t begin, uint64_t size) {
    visit(trace::Unmap{.device = device_, .address = begin, .size = size});
    bytes -= size;
  };
  const uint64_t far = std::min(far_, bytes);
  if (far > 0) unmap(kFar + far_ - far, far);
  far_ -= far;
  for (auto at = segments_.begin(); at != segments_.end() && bytes > 0;) {
    const auto [begin, end] = *at;
    const bool goes = end - begin <= bytes && IsEmpty(begin, end);
    if (goes) unmap(begin, end - begin);
    at = goes ? segments_.erase(at) : std::next(at);
  }
  // No set of whole empty segments is as large, so the rest comes off the ends of those that are
  // left.
  for (auto at = segments_.rbegin(); at != segments_.rend() && bytes > 0; ++at) {
    const uint64_t size = std::min(bytes, at->second - at->first - 1);
    if (size == 0) continue;
    at->second -= size;
    unmap(at->second, size);
  }
}

}  // namespace memtrace::interchange
