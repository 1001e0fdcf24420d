// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_BLOCKS_SIZE_POLICY_H_
#define MEMTRACE_ALLOCATOR_BLOCKS_SIZE_POLICY_H_

#include <algorithm>
#include <bit>

#include "base/units.h"

// All decisions about sizes, in one place. The functions are pure.
namespace memtrace {

// torch also rounds to 512 bytes, and kernels rely on addresses that are at least 256-aligned.
inline constexpr Bytes kAllocationUnit = 512;

// The largest request that is served from the segments for small requests. They are separate so
// that a long-lived scalar never pins the middle of a range that a large tensor needs. torch's
// kSmallSize.
inline constexpr Bytes kLargestSmallRequest = 1_MiB;

// Mapping costs about the same for a chunk of any size, so large chunks make growth cheap. But a
// chunk can be taken back only when it is entirely free, so one block in use pins all of it. On a
// card of up to 4,096 granules (8 GiB) a chunk is one granule; each further 1,024 granules allow
// one more granule while the card is empty (64 MiB on an 80 GiB card; torch uses 20 MiB). The size
// shrinks with the sixth power of the share that is left: on that card it is one granule once 38 %
// is used.
inline constexpr uint32_t kGranulesOfSmallCard = 4096;
inline constexpr uint32_t kGranulesForOneMore = 1024;
inline constexpr uint32_t kLargestChunk = 32;

// Memory of a movable owner comes and goes as a whole, and each driver call costs the same for a
// chunk of any size: chunks of 1 GiB take 0.8 ms a GiB to unmap, chunks of 64 MiB 1.6 ms, and
// single granules 25 ms (one H100, docs/design/politeness.md).
inline constexpr uint32_t kLargestMovableChunk = 512;
// With spill, parts of an owner may move to the host, in chunks of at most 64 MiB.
inline constexpr uint32_t kLargestMovableChunkWithSpill = 32;

// A growth of a movable owner maps a 32nd of what the owner has at once, so at most 3 % of it stays
// unused. By this rule, 14 GiB of small tensors come in 280 chunks instead of 7,168.
inline constexpr Bytes kMovableAhead = 32;

// Returns the size of the block for a request. Leaves a request near 2^64, which no card can hold,
// as it is, because rounding it would overflow.
constexpr Bytes RoundedSize(Bytes requested) {
  return requested > ~Bytes{0} - kAllocationUnit ? requested : RoundUp(requested, kAllocationUnit);
}

constexpr bool IsSmall(Bytes rounded) { return rounded <= kLargestSmallRequest; }

// Returns the granules of a chunk while `room` of the `usable` bytes of a card are left.
constexpr uint32_t ChunkGranules(Bytes room, Bytes usable, Bytes granularity) {
  if (usable == 0) return 1;
  const double left = static_cast<double>(room) / static_cast<double>(usable);
  const double empty = static_cast<double>(usable) / static_cast<double>(granularity);
  const double most =
      std::min<double>(kLargestChunk, (empty - kGranulesOfSmallCard) / kGranulesForOneMore);
  const double cube = left * left * left;
  return std::max(uint32_t{1}, static_cast<uint32_t>(std::max(0.0, most * cube * cube)));
}

// Returns the granules of the next chunk if `missing` are still to be mapped and a chunk has at
// most `most`. The remainder is cut into powers of two: 37 granules become chunks of 32, 4 and 1.
constexpr uint32_t NextChunk(uint32_t missing, uint32_t most = kLargestChunk) {
  return missing >= most ? most : std::bit_floor(missing);
}

// Returns the address space to reserve for one segment: 1 1/8 times the card, as in torch, so that
// a segment whose middle is pinned can still grow beyond it.
constexpr Bytes ReservationSize(Bytes card, Bytes granularity) {
  return RoundUp(card + card / 8, granularity);
}

// Returns the size of a segment that does not grow, in a pool with its own memory source. These are
// torch's sizes, because the source was written for torch's allocator.
constexpr Bytes FixedSegmentSize(Bytes rounded) {
  if (rounded <= 1_MiB) return 2_MiB;
  if (rounded < 10_MiB) return 20_MiB;
  return rounded > ~Bytes{0} - 2_MiB ? rounded : RoundUp(rounded, 2_MiB);
}

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_BLOCKS_SIZE_POLICY_H_
