// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_MOVABLE_OWNERS_H_
#define MEMTRACE_ALLOCATOR_POOLS_MOVABLE_OWNERS_H_

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "allocator/blocks/segment_key.h"
#include "base/units.h"

namespace memtrace {

// Which movable owners of a card sleep, and which of their blocks other processes have been given:
// these keep their memory, so their owner cannot sleep.
//
// Thread rule: none, guarded by the owner's lock.
class MovableOwners {
 public:
  // True for the owner 0, and while an owner does not sleep.
  bool IsAwake(MovableOwner owner) const { return asleep_.empty() || !asleep_.contains(owner); }

  // From now on until SetAwake, requests of the owner fail.
  void SetAsleep(MovableOwner owner) { asleep_.insert(owner); }
  void SetAwake(MovableOwner owner) { asleep_.erase(owner); }

  void NoteShared(DeviceAddress block, MovableOwner owner) { shared_[block] = owner; }
  void ForgetShared(DeviceAddress block) { shared_.erase(block); }
  // Returns how many blocks in use of the owner have been shared.
  size_t shared(MovableOwner owner) const;

 private:
  absl::flat_hash_set<MovableOwner> asleep_;
  absl::flat_hash_map<DeviceAddress, MovableOwner> shared_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_MOVABLE_OWNERS_H_
