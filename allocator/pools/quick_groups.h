// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_QUICK_GROUPS_H_
#define MEMTRACE_ALLOCATOR_POOLS_QUICK_GROUPS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "allocator/pools/segment_group.h"
#include "base/units.h"

namespace memtrace {

// Serves blocks without the card's lock: groups of the default pool are found by stream or address
// without a lock, and used under the lock of their stream. It serves only calls that neither map
// memory nor wait; for all others, the caller takes the card's lock and, by LockAll, those of all
// streams here. Entries are never removed. If a program has more streams than are kept here, the
// others use the card's lock.
//
// Thread rule: the first three functions from any thread; the others under the card's lock.
class QuickGroups {
 public:
  // Returns null if the request cannot be served here. `size` is the size of a block of `requested`
  // bytes.
  DeviceAddress TryAllocate(StreamId stream, Bytes size, Bytes requested, ContextId context);
  // Returns false if the block cannot be freed here: it may have to wait, or there is no such
  // block.
  bool TryFree(DeviceAddress address);

  // Returns false if there is no such block here.
  bool TryRecordStream(DeviceAddress address, StreamId stream);

  // Adds a stream. It is then locked, as if LockAll had locked it.
  void AddLane(Lane& lane) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Adds a group. Does nothing if its stream is not here.
  void AddGroup(SegmentGroup& group);
  void AddSegment(SegmentGroup& group, DeviceAddress address, Bytes size);
  // Returns the group of the segment that contains `address`; null if it is not here.
  SegmentGroup* At(DeviceAddress address) const;

  void LockAll() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // `is_open` tells whether TryAllocate may serve requests until the next LockAll, because no free
  // has to be completed before and no request belongs to a private pool.
  void UnlockAll(bool is_open) ABSL_NO_THREAD_SAFETY_ANALYSIS;

 private:
  static constexpr size_t kMostLanes = 64;
  static constexpr size_t kPlaces = 256;  // slots of the hash table
  static constexpr size_t kMostSegments = 128;
  static constexpr size_t kWindows = 64;

  struct Range {
    AddressRange addresses;
    SegmentGroup* group = nullptr;
  };
  struct Ranges {
    size_t count = 0;
    std::array<Range, kMostSegments> by_address{};
  };

  const Range* Search(DeviceAddress address) const;
  static size_t PlaceOf(StreamId stream, bool small);
  SegmentGroup* Of(StreamId stream, bool small) const;
  bool Has(const Lane& lane) const;

  std::atomic<bool> is_open_ = true;
  std::array<std::atomic<SegmentGroup*>, kPlaces> by_key_{};  // linear probing
  std::atomic<const Ranges*> ranges_ = nullptr;               // replaced as a whole
  // The range in which the last address with this hash of its 4 GiB window was found. It is nearly
  // always the right one, even with many streams.
  mutable std::array<std::atomic<const Range*>, kWindows> seen_{};
  std::vector<Lane*> lanes_;
  std::vector<std::unique_ptr<const Ranges>> kept_;  // older ones are kept for their readers
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_QUICK_GROUPS_H_
