// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_MEMORY_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "base/spin_mutex.h"
#include "base/units.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// A block that the program took from the driver itself.
struct OutsideBlock {
  trace::OutsideKind kind = trace::OutsideKind::kDevice;
  int device = 0;
  uint64_t address = 0;  // the handle if kind is kPhysical
  Bytes bytes = 0;
  uint64_t stream = 0;
  ContextId context{};  // who took it and where, as the recorder packs it
};

// True for memory of a card, false for the host's.
inline bool IsOnCard(trace::OutsideKind kind) { return kind <= trace::OutsideKind::kPhysical; }

// Is told of every change. Called under the table's lock, in the order in which things happened; it
// must not call back.
class OutsideListener {
 public:
  virtual ~OutsideListener() = default;
  virtual void Taken(const OutsideBlock& block) = 0;
  virtual void GivenBack(const OutsideBlock& block) = 0;
};

// The memory that the program holds from the driver, by address, or by handle for physical memory
// that may be mapped. A range that another allocator claims is removed, because the segments of an
// observed torch allocator are also seen by the driver's hooks.
//
// Thread rule: any thread.
class OutsideMemory {
 public:
  // From now on, tells this listener, which must outlive this object: first of all that is there,
  // after the previous listener was told that all was given back. Without a listener, everything is
  // dropped.
  void SetListener(OutsideListener* listener);

  // Adds a block. A block known at its address, or by its handle, is given back first, because the
  // driver gives out only unused memory.
  void Taken(const OutsideBlock& block);
  // Removes the block that begins at `address`, except physical memory, and returns it; nothing if
  // no such block is known.
  std::optional<OutsideBlock> GivenBack(uint64_t address);

  // Physical memory is given back once it has neither references (one when taken, one more for each
  // Retained) nor mappings. An unknown handle or address is ignored; Unmapped removes the mappings
  // that lie entirely in the range.
  void Mapped(uint64_t handle, DeviceAddress address, Bytes bytes);
  void Unmapped(DeviceAddress address, Bytes bytes);
  void Retained(uint64_t handle);
  void Released(uint64_t handle);

  // A context is gone, and with it the memory that was allocated on the card in it. Physical,
  // managed and host memory stays.
  void Reset(int device);

  // [address, address + bytes) belongs to another allocator. Cheap if there is no block.
  void Claim(DeviceAddress address, Bytes bytes);

  Bytes on_card(int device) const;

  // For pthread_atfork: the child gets a consistent table.
  void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  struct Physical {
    OutsideBlock block;
    int references = 1;
    int mappings = 0;
  };
  struct Mapping {
    DeviceAddress end;
    uint64_t handle = 0;
  };
  using Handles = absl::flat_hash_map<uint64_t, Physical>;

  void Add(const OutsideBlock& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Drop(const OutsideBlock& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropIfUnused(Handles::iterator physical) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReportAll(OutsideListener* listener, bool taken) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable SpinMutex mutex_;
  OutsideListener* listener_ ABSL_GUARDED_BY(mutex_) = nullptr;
  absl::flat_hash_map<uint64_t, OutsideBlock> blocks_ ABSL_GUARDED_BY(mutex_);
  Handles physical_ ABSL_GUARDED_BY(mutex_);
  std::map<DeviceAddress, Mapping> mappings_ ABSL_GUARDED_BY(mutex_);
  std::vector<Bytes> on_card_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_MEMORY_H_
