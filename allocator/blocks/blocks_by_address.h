// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_BLOCKS_BLOCKS_BY_ADDRESS_H_
#define MEMTRACE_ALLOCATOR_BLOCKS_BLOCKS_BY_ADDRESS_H_

#include <array>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "allocator/blocks/block.h"
#include "allocator/blocks/size_policy.h"
#include "base/fibonacci_hash.h"
#include "base/units.h"

namespace memtrace {

// The blocks of a group that are in use or recently freed, by address. A recently freed block stays
// here, so that a free followed by an allocation of the same size changes nothing.
//
// Thread rule: none, guarded by the owner's lock.
class BlocksByAddress {
 public:
  // Adds a block that is in use. Does nothing if the block is already here.
  void Add(Block* block) { blocks_.emplace(block->address, block); }

  // Notes that a block has been given to the program. Most frees are of young blocks, so Find looks
  // at the blocks given most recently first.
  void NoteHandedOut(Block* block) { given_[SlotOf(block->address)] = block; }

  void Remove(const Block* block) { blocks_.erase(block->address); }

  // Returns the block in use that starts at `address`; null if there is none.
  Block* Find(DeviceAddress address) const {
    Block* likely = given_[SlotOf(address)];
    const bool is_it = likely != nullptr && likely->address == address;
    return is_it && likely->is(Block::State::kAllocated) ? likely : FindAny(address);
  }

  // Returns the block in use that starts at `address` and has memory of the host; null if there is
  // none.
  Block* FindOnHost(DeviceAddress address) const {
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return nullptr;
    return found->second->is(Block::State::kOnHost) ? found->second : nullptr;
  }

  // Calls `visit` for every block in use, in unspecified order.
  template <typename Visit>
  void ForEachInUse(Visit visit) const {
    for (const auto& [address, block] : blocks_) {
      if (block->is(Block::State::kAllocated)) visit(block);
    }
  }

  // True if exactly this block is here.
  bool Has(const Block* block) const;
  size_t size() const { return blocks_.size(); }

  // Aborts if `given_` contradicts `blocks_`.
  void CheckInvariants() const;

 private:
  static constexpr size_t kSlots = 256;
  static constexpr size_t SlotOf(DeviceAddress address) {
    return FibonacciHash<8>(address.value() / kAllocationUnit);
  }

  Block* FindAny(DeviceAddress address) const;

  absl::flat_hash_map<DeviceAddress, Block*> blocks_;
  // Some of the blocks given most recently. Records of blocks are reused but never deleted, so an
  // outdated entry points to another block, which is harmless.
  std::array<Block*, kSlots> given_{};
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_BLOCKS_BLOCKS_BY_ADDRESS_H_
