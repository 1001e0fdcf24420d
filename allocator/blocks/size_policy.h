// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_BLOCKS_SIZE_POLICY_H_
#define MEMTRACE_ALLOCATOR_BLOCKS_SIZE_POLICY_H_

#include <algorithm>
#include <bit>

#include "base/units.h"

// Every size the allocator decides, in one place. Pure functions.
namespace memtrace {

// torch rounds to 512 bytes as well, and kernels count on addresses that are at least 256-aligned.
inline constexpr Bytes kAllocationUnit = 512;

// Requests up to here live in segments of their own, so that a long-lived scalar never pins the
// middle of a range that a large tensor needs. torch's kSmallSize.
inline constexpr Bytes kLargestSmallRequest = 1_MiB;

// Mapping costs about the same for any chunk, so big chunks make growth cheap; but a chunk can be
// taken back only when all of it is free, and one block in use pins it. On a card of up to 4,096
// granules (8 GiB) a chunk is a granule; for every 1,024 granules more it may have one more while
// the card is empty (64 MiB of 80 GiB; torch's have 20), and less by the sixth power of the share
// that is left: on that card one granule when 38 % of it is full.
inline constexpr uint32_t kGranulesOfSmallCard = 4096;
inline constexpr uint32_t kGranulesForOneMore = 1024;
inline constexpr uint32_t kLargestChunk = 32;

// What a request occupies. A request that no card can hold stays as it is: rounding must not
// overflow.
constexpr Bytes RoundedSize(Bytes requested) {
  return requested > ~Bytes{0} - kAllocationUnit ? requested : RoundUp(requested, kAllocationUnit);
}

constexpr bool IsSmall(Bytes rounded) { return rounded <= kLargestSmallRequest; }

// Granules of a chunk while `room` of the `usable` bytes of a card are left.
constexpr uint32_t ChunkGranules(Bytes room, Bytes usable, Bytes granularity) {
  if (usable == 0) return 1;
  const double left = static_cast<double>(room) / static_cast<double>(usable);
  const double empty = static_cast<double>(usable) / static_cast<double>(granularity);
  const double most =
      std::min<double>(kLargestChunk, (empty - kGranulesOfSmallCard) / kGranulesForOneMore);
  const double cube = left * left * left;
  return std::max(uint32_t{1}, static_cast<uint32_t>(std::max(0.0, most * cube * cube)));
}

// Granules of the next chunk when `missing` are still to be mapped and chunks have at most `most`:
// what is left over is cut into powers of two. 37 granules become chunks of 32, 4 and 1.
constexpr uint32_t NextChunk(uint32_t missing, uint32_t most = kLargestChunk) {
  return missing >= most ? most : std::bit_floor(missing);
}

// Address space for one segment: the whole card and an eighth, so that a segment whose middle is
// pinned can still grow beyond it. torch's 1 1/8.
constexpr Bytes ReservationSize(Bytes card, Bytes granularity) {
  return RoundUp(card + card / 8, granularity);
}

// A segment that does not grow, of a pool with a source of its own: torch's sizes, since whoever
// wrote the source has seen them with torch.
constexpr Bytes FixedSegmentSize(Bytes rounded) {
  if (rounded <= 1_MiB) return 2_MiB;
  if (rounded < 10_MiB) return 20_MiB;
  return rounded > ~Bytes{0} - 2_MiB ? rounded : RoundUp(rounded, 2_MiB);
}

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_BLOCKS_SIZE_POLICY_H_
