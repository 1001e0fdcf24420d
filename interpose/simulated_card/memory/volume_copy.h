// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_VOLUME_COPY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_VOLUME_COPY_H_

#include <cstdint>

#include "interpose/simulated_card/memory/address_ranges.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// One side of a copy in two or three dimensions, as cuda.h describes it: rows of `pitch` bytes,
// slices of `height` rows, and the copy's position in them. A pitch or a height of 0 is
// unspecified, which means as small as possible.
struct VolumeSide {
  Address base;
  std::uint64_t pitch = 0;
  std::uint64_t height = 0;
  std::uint64_t x = 0;  // bytes
  std::uint64_t y = 0;  // rows
  std::uint64_t z = 0;  // slices
};

// A copy of `depth` slices of `height` rows of `width` bytes.
struct VolumeCopy {
  VolumeSide to;
  VolumeSide from;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 1;
};

// Fills in unspecified values. kInvalidValue if a row does not fit a pitch, the rows do not fit the
// height of a slice, or addresses overflow (cuda.h of cuMemcpy3D).
Result Complete(VolumeCopy* copy);

// Returns where row `row` of slice `slice` begins. REQUIRES: the copy is complete.
Address RowOf(const VolumeSide& side, std::uint64_t row, std::uint64_t slice);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_VOLUME_COPY_H_
