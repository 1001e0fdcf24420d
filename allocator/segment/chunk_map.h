// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_CHUNK_MAP_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_CHUNK_MAP_H_

#include <compare>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/units.h"

namespace memtrace {

// An index of a granule in a segment. A granule is the smallest unit that the driver maps: 2 MiB on
// every card so far.
using GranuleIndex = uint32_t;

// The granules that a physical chunk is mapped to.
struct ChunkRange {
  GranuleIndex first = 0;
  uint32_t count = 0;

  GranuleIndex end() const { return first + count; }
  friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

// Tells whose memory a chunk is. The card reaches the host's over the bus.
enum class Place : uint8_t { kCard, kHost };

// The granules of a segment that have physical memory, and the chunks they belong to, because the
// driver unmaps only whole chunks.
//
// Thread rule: none, guarded by the owner's lock.
class ChunkMap {
 public:
  // REQUIRES: no granule of `chunk` is mapped.
  void Add(ChunkRange chunk, Place place = Place::kCard);

  // REQUIRES: exactly this chunk is mapped.
  void Remove(ChunkRange chunk);

  // Returns the chunks that lie entirely in [first, end), in ascending order.
  std::vector<ChunkRange> Inside(GranuleIndex first, GranuleIndex end) const;

  // Returns the chunks that overlap [first, end), in ascending order.
  std::vector<ChunkRange> Under(GranuleIndex first, GranuleIndex end) const;

  // Returns the serial number of the chunk that starts at `first`; no other mapping of the process
  // has ever had the same.
  uint64_t SerialOf(GranuleIndex first) const { return chunks_.at(first).serial; }

  // Returns where the chunk that starts at `first` is.
  Place PlaceOf(GranuleIndex first) const { return chunks_.at(first).place; }
  // Notes that other processes may use the chunk that starts at `first`.
  void NoteShared(GranuleIndex first) { chunks_.at(first).is_shared = true; }
  bool IsShared(GranuleIndex first) const { return chunks_.at(first).is_shared; }

  std::vector<ChunkRange> chunks() const { return Inside(0, ~GranuleIndex{0}); }
  uint32_t granules() const { return granules_; }  // mapped
  uint32_t on_host() const { return on_host_; }    // of these
  int ranges() const { return ranges_; }           // maximal mapped runs

  // Returns a picture of the first `length` granules: in "xx..x" granules 0, 1 and 4 are mapped.
  std::string Picture(GranuleIndex length) const;

 private:
  int Neighbours(ChunkRange chunk) const;  // sides that border on mapped memory

  struct Chunk {
    uint32_t count = 0;
    uint64_t serial = 0;
    Place place = Place::kCard;
    bool is_shared = false;
  };

  absl::btree_map<GranuleIndex, Chunk> chunks_;  // by first granule
  uint32_t granules_ = 0;
  uint32_t on_host_ = 0;
  int ranges_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_CHUNK_MAP_H_
