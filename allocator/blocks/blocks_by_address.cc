// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/blocks/blocks_by_address.h"

#include "base/check.h"

namespace memtrace {

Block* BlocksByAddress::FindAny(DeviceAddress address) const {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return nullptr;
  return found->second->is(Block::State::kAllocated) ? found->second : nullptr;
}

bool BlocksByAddress::Has(const Block* block) const {
  const auto found = blocks_.find(block->address);
  return found != blocks_.end() && found->second == block;
}

void BlocksByAddress::CheckInvariants() const {
  for (const Block* given : given_) {
    if (given == nullptr || !given->is(Block::State::kAllocated)) continue;
    MEMTRACE_CHECK_EQ(FindAny(given->address), given);
  }
}

}  // namespace memtrace
