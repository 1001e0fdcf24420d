// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_HOST_COPIES_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_HOST_COPIES_H_

#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/accounts/host_account.h"
#include "allocator/card/chunk_copies.h"
#include "base/units.h"

namespace memtrace {

// Copies of ranges of a card's memory in the host's memory. The host's memory is taken in pieces,
// and given back to a pool, because pinning takes ten times as long as the copy. The pool has at
// most what was in use at once.
//
// Errors: kUnimplemented without ChunkCopies, kResourceExhausted if the limit or the host does not
// leave enough memory. Thread rule: guarded by the card's lock.
class HostCopies {
 public:
  static constexpr Bytes kPiece = 64_MiB;

  // The ranges of one copy, in the order in which their bytes fill the pieces.
  struct Copy {
    std::vector<AddressRange> ranges;
    std::vector<HostPiece> pieces;
    bool is_pinned = true;
  };

  // `copies`, which may be null, and `account` must outlive this. `limit`: the most bytes of the
  // host.
  HostCopies(ChunkCopies* copies, Bytes limit, HostAccount& account ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : copies_(copies), limit_(limit), account_(account) {}
  ~HostCopies();
  HostCopies(const HostCopies&) = delete;
  HostCopies& operator=(const HostCopies&) = delete;

  // Copies the ranges, and waits for it. Takes all of the host's memory before anything is copied.
  absl::StatusOr<Copy> Save(const std::vector<AddressRange>& ranges);
  // Copies back what `wanted`, ascending ranges, has of the copy.
  absl::Status Restore(const Copy& copy, const std::vector<AddressRange>& wanted);
  // Reads `range` of a copy, whose pieces must be memory of this process. False if the copy does
  // not have all of it.
  static bool Read(const Copy& copy, const AddressRange& range, void* to);
  // Fills the ranges with zeros.
  absl::Status Clear(const std::vector<AddressRange>& ranges);
  // Returns the pieces of a copy to the pool.
  void Drop(const Copy& copy);

  // Gives the pool back to the host. Returns its bytes.
  Bytes ReleasePool();

  Bytes in_use() const { return account_.copies; }
  Bytes pooled() const { return account_.pooled; }
  Bytes left() const { return limit_ - account_.copies; }  // that can be taken under the limit
  Bytes limit() const { return limit_; }

 private:
  absl::Status TakePieces(Bytes bytes, Copy& copy);
  absl::Status SaveInto(const Copy& copy);

  ChunkCopies* const copies_;
  const Bytes limit_;
  HostAccount& account_;
  std::vector<HostPiece> pool_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_HOST_COPIES_H_
