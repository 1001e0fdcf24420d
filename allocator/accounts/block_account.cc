// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounts/block_account.h"

namespace memtrace {

void BlockAccount::FreeRequested(const Block& block, const SegmentKey& key, UsageShare& share) {
  usage_.Waits(share, key.small, AmountsOf(block.size, block.requested));
  if (observer_.observes_blocks()) observer_.FreeRequested(EventOf(block, key));
}

void BlockAccount::FreeCompleted(const Block& block, const SegmentKey& key) {
  usage_.Waited(key.small, AmountsOf(block.size, block.requested));
  if (observer_.observes_blocks()) observer_.FreeCompleted(EventOf(block, key));
}

}  // namespace memtrace
