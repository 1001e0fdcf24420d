// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_BLOCK_ACCOUNT_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_BLOCK_ACCOUNT_H_

#include "absl/base/attributes.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/usage.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/segment_key.h"
#include "base/units.h"

namespace memtrace {

// Counts the blocks of a card that are in use or wait for other streams, and tells the observer of
// each change, in one place, so that the two cannot disagree.
//
// Errors: none. Thread rule: guarded by the card's lock and those of all streams; for Allocated and
// Freed the lock of the block's stream alone suffices.
class BlockAccount {
 public:
  // `observer` must outlive this.
  BlockAccount(DeviceIndex device, AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : device_(device), observer_(observer) {}

  // REQUIRES: share.HasRoomFor the block.
  void Allocated(const Block& block, const SegmentKey& key, UsageShare& share) {
    share.Allocated(key.small, AmountsOf(block.size, block.requested));
    if (observer_.observes_blocks()) observer_.Allocated(EventOf(block, key));
  }
  // FreeRequested and FreeCompleted in one.
  void Freed(const Block& block, const SegmentKey& key, UsageShare& share) {
    share.Freed(key.small, AmountsOf(block.size, block.requested));
    if (observer_.observes_blocks()) observer_.Freed(EventOf(block, key));
  }
  void FreeRequested(const Block& block, const SegmentKey& key, UsageShare& share);
  void FreeCompleted(const Block& block, const SegmentKey& key);

  // The blocks in use on all streams. A new stream's share is added, and given room, through it.
  Usage& usage() { return usage_; }
  const Usage& usage() const { return usage_; }

 private:
  BlockEvent EventOf(const Block& block, const SegmentKey& key) const {
    return {device_,         key.stream, key.pool,     block.address,
            block.requested, block.size, block.context};
  }

  const DeviceIndex device_;
  AllocationObserver& observer_;
  Usage usage_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_BLOCK_ACCOUNT_H_
