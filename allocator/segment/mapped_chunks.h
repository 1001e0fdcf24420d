// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_MAPPED_CHUNKS_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_MAPPED_CHUNKS_H_

#include <string>
#include <vector>

#include "allocator/card/vmm.h"
#include "allocator/segment/chunk_map.h"
#include "base/units.h"

namespace memtrace {

// Which chunks are mapped in a range of reserved addresses: a ChunkMap, asked by addresses.
//
// Thread rule: none, guarded by the owner's lock.
class MappedChunks {
 public:
  // `granularity` divides the size of `range`.
  MappedChunks(const AddressRange& range, Bytes granularity);

  // Returns the chunks that overlap `range`, in ascending order.
  std::vector<MappedChunk> Under(const AddressRange& range) const;

  // Returns the chunks that lie entirely in `range`, in ascending order.
  std::vector<ChunkRange> Whole(const AddressRange& range) const;

  // Returns the parts of `range` that are not mapped, in ascending order. REQUIRES: whole granules.
  std::vector<AddressRange> MissingIn(const AddressRange& range) const;

  // Returns the chunks in `place` that lie entirely in `range` and are not shared, joined into
  // pieces that ChunkExchange can replace, in ascending order.
  std::vector<AddressRange> PiecesIn(const AddressRange& range, Place place) const;

  // Returns the range that Reservation::Unmap would unmap if no call failed: by default, all chunks
  // that lie entirely in `range`.
  AddressRange Unmappable(const AddressRange& range, Bytes wanted = ~Bytes{0}) const;

  // Returns true if a chunk of the host overlaps the range.
  bool IsAnyOnHost(const AddressRange& range) const;

  const AddressRange& range() const { return range_; }
  Bytes granularity() const { return granularity_; }
  Bytes bytes() const { return map_.granules() * granularity_; }
  Bytes on_host() const { return map_.on_host() * granularity_; }  // of these bytes
  int ranges() const { return map_.ranges(); }                     // maximal mapped runs

  // Returns a picture of the chunks up to the last mapped granule: "xx..x".
  std::string Picture() const;

  GranuleIndex IndexOf(DeviceAddress at) const {
    return static_cast<GranuleIndex>((at - range_.begin) / granularity_);
  }
  DeviceAddress AddressOf(GranuleIndex index) const { return range_.begin + index * granularity_; }

  // Returns the same chunks by granules. Whoever maps and unmaps chunks notes it there.
  ChunkMap& map() { return map_; }

 private:
  const AddressRange range_;
  const Bytes granularity_;
  ChunkMap map_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_MAPPED_CHUNKS_H_
