// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_RESERVATION_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_RESERVATION_H_

#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/unique_descriptor.h"
#include "allocator/card/vmm.h"
#include "allocator/segment/chunk_exchange.h"
#include "allocator/segment/mapped_chunks.h"
#include "base/units.h"

namespace memtrace {

// A range of reserved addresses and the chunks that are mapped in it. Addresses are mapped in whole
// granules, and unmapped in the chunks in which they were mapped.
//
// Failures: a failed driver call leaves the reservation as before it. Parts of a failed mapping
// that cannot be undone either (a handle, chunks without access) are remembered and undone later.
// Thread rule: none, guarded by the owner's lock.
class Reservation {
 public:
  // Takes over `range`, which `vmm` has reserved. `granularity` divides its size. `vmm` must
  // outlive this.
  Reservation(const AddressRange& range, Bytes granularity, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Unmaps everything and gives the addresses back. REQUIRES: no work on the card uses them any
  // more.
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // Maps [begin, begin + size), in chunks of at most `chunk` granules. REQUIRES: none of it is
  // mapped.
  absl::Status Map(DeviceAddress begin, Bytes size, uint32_t chunk);

  // The result of Unmap: `range` is the unmapped range, empty if there is none; `status` is that of
  // the call that failed.
  struct Unmapped {
    AddressRange range;
    absl::Status status;
  };
  // Unmaps chunks that lie entirely in `range`, from the highest down, until `wanted` bytes are
  // unmapped or a call fails. REQUIRES: all of `range` is mapped.
  Unmapped Unmap(const AddressRange& range, Bytes wanted);

  // Takes over a chunk that was mapped here, with access, by somebody else. REQUIRES: none of the
  // range is mapped by this.
  void Adopt(const AddressRange& chunk);

  // Unmaps everything, each maximal run of one place by one call, and goes on after a call that
  // failed. The result has the unmapped runs, and the status of the first failure.
  struct PutAwayRuns {
    std::vector<AddressRange> of_card;
    Bytes on_host = 0;  // of the runs of the host
    absl::Status status;
  };
  PutAwayRuns PutAway();

  // Replaces the chunks of a piece (MappedChunks::PiecesIn) by one in `place`, with the same
  // contents. REQUIRES: all work that uses the piece is done.
  absl::Status Exchange(const AddressRange& piece, Place place, ChunkExchange& exchange);

  // Tries again to undo what the driver refused to. Not OK if a chunk is still mapped without
  // access.
  absl::Status UndoRest();

  // Gives the addresses back. After OK nothing is left to be done; after a failure all is as
  // before. REQUIRES: mapped() == 0.
  absl::Status Close();

  // Returns Vmm::Share of a chunk, which from now on keeps its memory.
  absl::StatusOr<UniqueDescriptor> Share(const MappedChunk& chunk) {
    chunks_.map().NoteShared(chunks_.IndexOf(chunk.address));
    return vmm_.Share(chunk.address);
  }

  const MappedChunks& chunks() const { return chunks_; }
  const AddressRange& range() const { return chunks_.range(); }
  DeviceAddress address() const { return range().begin; }
  Bytes granularity() const { return chunks_.granularity(); }
  Bytes mapped() const { return chunks_.bytes(); }

 private:
  using Chunks = std::vector<ChunkRange>;

  absl::Status MapChunks(DeviceAddress begin, Bytes size, uint32_t most, Chunks& fresh);
  absl::Status MapChunk(ChunkRange chunk);
  absl::Status UnmapChunk(ChunkRange chunk);
  void ReleaseHandle(ChunkHandle handle);

  Vmm& vmm_;
  MappedChunks chunks_;

  // Handles that the driver did not release, and chunks that are mapped without access, which
  // `chunks_` does not contain. UndoRest() tries again.
  std::vector<ChunkHandle> unreleased_;
  Chunks without_access_;
  bool is_closed_ = false;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_RESERVATION_H_
