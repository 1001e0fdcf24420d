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

// The way past the card's lock: groups of the default pool, found by stream or by address without a
// lock and used under their stream's. It serves what neither maps nor waits for anything; whatever
// else comes, the caller takes the card's lock and, by LockAll, those of all streams here, and
// decides. What is here stays for ever. Programs with more streams than are kept here take the
// card's lock for the others.
//
// Thread rule: the first three from any thread; the others under the card's lock.
class QuickGroups {
 public:
  // Null if this is no case for here. `size` is what a block of `requested` bytes occupies.
  DeviceAddress TryAllocate(StreamId stream, Bytes size, Bytes requested, ContextId context);
  // False if this is no case for here: the block may be waited for, or there is no such block.
  bool TryFree(DeviceAddress address);

  // False if there is no such block here.
  bool TryRecordStream(DeviceAddress address, StreamId stream);

  // New streams are locked as if LockAll had locked them.
  void AddLane(Lane& lane) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Without effect if its stream is none of these.
  void AddGroup(SegmentGroup& group);
  void AddSegment(SegmentGroup& group, DeviceAddress address, Bytes size);
  // Whose segment it is; null if it is none of these.
  SegmentGroup* At(DeviceAddress address) const;

  void LockAll() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // `is_open`: whether TryAllocate may serve requests until the next LockAll, because no free has
  // to be completed before and no request belongs to a private pool.
  void UnlockAll(bool is_open) ABSL_NO_THREAD_SAFETY_ANALYSIS;

 private:
  static constexpr size_t kMostLanes = 64;
  static constexpr size_t kPlaces = 256;  // of the hash table
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
  // Where the last address with this hash of its 4 GiB was found: nearly always right at once,
  // however many streams there are.
  mutable std::array<std::atomic<const Range*>, kWindows> seen_{};
  std::vector<Lane*> lanes_;
  std::vector<std::unique_ptr<const Ranges>> kept_;  // older ones too: somebody may be reading
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_QUICK_GROUPS_H_
