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

// Granules of a segment, counted from its start. A granule is what the driver maps at least: 2 MiB
// on every card so far.
using GranuleIndex = uint32_t;

// A physical chunk, by the granules it is mapped to.
struct ChunkRange {
  GranuleIndex first = 0;
  uint32_t count = 0;

  GranuleIndex end() const { return first + count; }
  friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

// Which granules of a segment have physical memory, and where one chunk ends and the next begins.
// It matters because the driver unmaps only whole chunks.
//
// Thread rule: none, the owner's lock guards it.
class ChunkMap {
 public:
  // REQUIRES: no granule of `chunk` is mapped.
  void Add(ChunkRange chunk);

  // REQUIRES: exactly this chunk is mapped.
  void Remove(ChunkRange chunk);

  // The chunks that lie in [first, end) as a whole, ascending.
  std::vector<ChunkRange> Inside(GranuleIndex first, GranuleIndex end) const;

  // Returns a number of the chunk that starts at `first` that no other mapping of the process has
  // ever had.
  uint64_t SerialOf(GranuleIndex first) const { return chunks_.at(first).serial; }

  std::vector<ChunkRange> chunks() const { return Inside(0, ~GranuleIndex{0}); }
  uint32_t granules() const { return granules_; }  // mapped
  int ranges() const { return ranges_; }           // maximal mapped runs

  // The first `length` granules: "xx..x" has granules 0, 1 and 4 mapped.
  std::string Picture(GranuleIndex length) const;

 private:
  int Neighbours(ChunkRange chunk) const;  // sides on which mapped memory follows at once

  struct Chunk {
    uint32_t count = 0;
    uint64_t serial = 0;
  };

  absl::btree_map<GranuleIndex, Chunk> chunks_;  // by first granule
  uint32_t granules_ = 0;
  int ranges_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_CHUNK_MAP_H_
