// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_SEGMENT_CHUNK_EXCHANGE_H_
#define MEMTRACE_ALLOCATOR_SEGMENT_CHUNK_EXCHANGE_H_

#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "allocator/card/chunk_copies.h"
#include "allocator/card/vmm.h"
#include "allocator/segment/chunk_map.h"
#include "base/units.h"

namespace memtrace {

// Replaces chunks by one of the other place, which has the same contents and is mapped at the same
// addresses:
//
//   1. the new chunk is made, mapped at spare addresses (the window), and copied to;
//   2. the old chunks are unmapped, but kept by handles of their own;
//   3. the new chunk is mapped in their stead, and the old ones are released.
//
// Between 2 and 3 the addresses have no memory, so no work may use them.
//
// Failures: a failed driver call leaves everything as before it: the old chunks are mapped again.
// If even that fails, the addresses have no memory until Mend has succeeded, which each call tries
// first; the contents are kept. Thread rule: none, guarded by the card's lock.
class ChunkExchange {
 public:
  // The most bytes that are replaced by one chunk. Larger chunks are hardly cheaper (196 to 238 ms
  // for each GiB of the host's memory), and the window is as large as this.
  static constexpr Bytes kLargest = 64_MiB;

  // Both must outlive this.
  ChunkExchange(Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
                ChunkCopies& copies ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : vmm_(vmm), copies_(copies) {}
  ~ChunkExchange();
  ChunkExchange(const ChunkExchange&) = delete;
  ChunkExchange& operator=(const ChunkExchange&) = delete;

  // Replaces `chunks`, which tile `piece`. kResourceExhausted if the new place has no room,
  // kUnimplemented if the driver cannot put memory of the host there. REQUIRES: at most kLargest
  // bytes, and all work that uses them is done.
  absl::Status Replace(const std::vector<MappedChunk>& chunks, const AddressRange& piece,
                       Place place);

  // Tries again to undo what the driver has refused to.
  absl::Status Mend();
  // True while addresses have no memory, because the driver refused to map it there again.
  bool is_torn() const { return torn_.has_value(); }
  // True while there is something that Mend would undo.
  bool has_rest() const { return torn_.has_value() || in_window_ > 0 || !unreleased_.empty(); }

 private:
  struct Kept {
    MappedChunk chunk;
    ChunkHandle handle{};
  };
  // Addresses whose old chunks could not be mapped again.
  struct Torn {
    AddressRange piece;
    std::vector<Kept> old;
    size_t mapped = 0;        // of `old`
    bool is_covered = false;  // the new chunk is mapped there
  };

  absl::Status OpenWindow();
  absl::Status CloseWindow();
  absl::Status Keep(const std::vector<MappedChunk>& chunks, std::vector<Kept>& old);
  absl::Status CopyInto(ChunkHandle fresh, const AddressRange& piece);
  absl::Status Swap(ChunkHandle fresh, const AddressRange& piece, const std::vector<Kept>& old);
  absl::Status MendTorn();
  void Release(ChunkHandle handle);

  Vmm& vmm_;
  ChunkCopies& copies_;
  DeviceAddress window_ = {};
  Bytes in_window_ = 0;  // mapped there
  std::vector<ChunkHandle> unreleased_;
  std::optional<Torn> torn_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_SEGMENT_CHUNK_EXCHANGE_H_
