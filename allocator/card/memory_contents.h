// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_MEMORY_CONTENTS_H_
#define MEMTRACE_ALLOCATOR_CARD_MEMORY_CONTENTS_H_

#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/container/btree_map.h"
#include "base/units.h"

namespace memtrace {

// The contents of memory that exists only as bookkeeping: each range has a number in place of its
// bytes. A part of a range has the same number.
//
// Thread rule: none.
class MemoryContents {
 public:
  static constexpr uint64_t kZeros = 0;

  void Write(uint64_t address, Bytes size, uint64_t number) {
    Erase(address, size);
    ranges_[address] = {size, number};
  }
  // Makes the contents of the range unknown.
  void Erase(uint64_t address, Bytes size) {
    CutAt(address);
    CutAt(address + size);
    ranges_.erase(ranges_.lower_bound(address), ranges_.lower_bound(address + size));
  }
  // Returns the number at an address; none if it was never written.
  std::optional<uint64_t> At(uint64_t address) const {
    auto above = ranges_.upper_bound(address);
    if (above == ranges_.begin()) return std::nullopt;
    const auto& [begin, range] = *std::prev(above);
    return address < begin + range.size ? std::optional(range.number) : std::nullopt;
  }
  // Copies a range of `from`, unknown parts included.
  void Copy(const MemoryContents& from, uint64_t source, uint64_t address, Bytes size) {
    MemoryContents part;
    for (const auto& [begin, range] : from.ranges_) {
      const uint64_t low = begin > source ? begin : source;
      const uint64_t high = begin + range.size < source + size ? begin + range.size : source + size;
      if (low < high) part.ranges_[low] = {high - low, range.number};
    }
    Erase(address, size);
    for (const auto& [begin, range] : part.ranges_) ranges_[address + (begin - source)] = range;
  }

 private:
  struct Range {
    Bytes size = 0;
    uint64_t number = 0;
  };

  // Makes a range begin at `address` if one contains it.
  void CutAt(uint64_t address) {
    auto above = ranges_.lower_bound(address);
    if (above == ranges_.begin()) return;
    auto below = std::prev(above);
    const uint64_t end = below->first + below->second.size;
    if (end <= address) return;
    const uint64_t number = below->second.number;
    below->second.size = address - below->first;
    ranges_[address] = {end - address, number};
  }

  absl::btree_map<uint64_t, Range> ranges_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_MEMORY_CONTENTS_H_
