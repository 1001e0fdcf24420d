// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_BLOCKS_SIZE_BINS_H_
#define MEMTRACE_ALLOCATOR_BLOCKS_SIZE_BINS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "allocator/blocks/size_policy.h"
#include "base/units.h"

namespace memtrace {

// Sorts sizes into bins, so that a larger size is never in a lower bin. Each multiple of the
// allocation unit up to 32 has a bin of its own; above, each power of two has 32 bins (the two
// levels of Masmano's TLSF, "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", 2004).
inline constexpr size_t kBinsAPower = 32;
inline constexpr size_t kSizeBins = 1024;  // the last one holds every size from 31.5 TiB on

constexpr size_t BinOf(Bytes size) {
  const uint64_t units = size / kAllocationUnit;
  if (units < kBinsAPower) return units;
  constexpr int kFirstPower = static_cast<int>(std::bit_width(kBinsAPower)) - 1;
  const int power = static_cast<int>(std::bit_width(units)) - 1;
  const uint64_t part = (units >> (power - kFirstPower)) - kBinsAPower;
  return std::min<size_t>(static_cast<size_t>(power - kFirstPower + 1) * kBinsAPower + part,
                          kSizeBins - 1);
}

// The set of bins that are not empty.
class BinSet {
 public:
  static constexpr size_t kNone = kSizeBins;

  void Add(size_t bin) {
    words_[bin / 64] |= Bit(bin);
    used_words_ |= Bit(bin / 64);
  }
  void Remove(size_t bin) {
    uint64_t& word = words_[bin / 64];
    word &= ~Bit(bin);
    if (word == 0) used_words_ &= ~Bit(bin / 64);
  }

  size_t Count() const {
    size_t count = 0;
    for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
    return count;
  }

  // Returns the lowest bin in the set from `bin` on; kNone if there is none.
  size_t Next(size_t bin) const {
    if (bin >= kSizeBins) return kNone;
    const size_t word = bin / 64;
    const uint64_t here = words_[word] & (~uint64_t{0} << (bin % 64));
    if (here != 0) return word * 64 + Lowest(here);
    const uint64_t later = used_words_ & (~uint64_t{1} << word);
    if (later == 0) return kNone;
    return Lowest(later) * 64 + Lowest(words_[Lowest(later)]);
  }

  // Returns the highest bin in the set; kNone if it is empty.
  size_t Last() const {
    if (used_words_ == 0) return kNone;
    const size_t word = Highest(used_words_);
    return word * 64 + Highest(words_[word]);
  }

 private:
  static constexpr uint64_t Bit(size_t bin) { return uint64_t{1} << (bin % 64); }
  static size_t Lowest(uint64_t bits) { return static_cast<size_t>(std::countr_zero(bits)); }
  static size_t Highest(uint64_t bits) { return 63 - static_cast<size_t>(std::countl_zero(bits)); }

  static_assert(kSizeBins / 64 <= 64);
  std::array<uint64_t, kSizeBins / 64> words_{};
  uint64_t used_words_ = 0;  // one bit for each word that is not 0
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_BLOCKS_SIZE_BINS_H_
