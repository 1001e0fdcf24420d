// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUPS_H_
#define MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUPS_H_

#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/card/stream_events.h"
#include "allocator/card/vmm.h"
#include "allocator/plan/plan.h"
#include "allocator/pools/quick_groups.h"
#include "allocator/pools/segment_group.h"
#include "base/units.h"

namespace memtrace {

// All mapped memory of a card, by group, and its way back: chunks that are entirely free are
// unmapped for requests that need them.
//
// Only work queued on its own stream may still use a free block's memory, because a block becomes
// free only after its recorded streams are done. So a chunk may change its owner once an event on
// the owner's stream is done. A pool that has lost its users is different: graphs may have been
// replayed on any stream, so all work is waited for, once.
//
// Nothing is taken from pools with users, and from streams from which a graph is being captured,
// where no event can be waited for.
//
// Thread rule: none, guarded by the owner's lock.
class SegmentGroups {
 public:
  static constexpr Bytes kEverything = ~Bytes{0};

  // All references must outlive this.
  SegmentGroups(Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND,
                StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND,
                Accounting& accounting ABSL_ATTRIBUTE_LIFETIME_BOUND,
                QuickGroups& quick ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : card_(card), events_(events), accounting_(accounting), quick_(quick) {}

  // Makes groups for large requests of the default pool that are created from now on follow the
  // sections of `plan`, in the order in which their streams appear. `plan` must outlive this.
  void Follow(const Plan& plan, DeviceIndex device) {
    plan_ = &plan;
    device_ = device;
  }

  // Returns the group of a key, made if it is new. `pool` is the pool of the key, null for {0, 0}.
  SegmentGroup& Of(const SegmentKey& key, Pool* pool);

  // Returns null if there is none.
  SegmentGroup* Find(const SegmentKey& key) const;

  // Returns the group that a block belongs to.
  SegmentGroup& OwnerOf(const Block& block) const { return *Find(block.segment->key()); }

  // Returns the group whose block in use starts at `address`; null if there is none.
  SegmentGroup* OwnerOf(DeviceAddress address) const;

  absl::StatusOr<ExpandableSegment*> AddSegment(SegmentGroup& group, const SegmentShape& shape);

  // Unmaps chunks that are entirely free until `wanted` bytes are unmapped or none is left: other
  // groups' first, by age, then those of `last`, whose free ranges its growth is planned to use.
  // Planned memory comes after all other.
  absl::Status TakeBack(Bytes wanted, const SegmentGroup* last);

  // Unmaps the chunks of one pool that are entirely free.
  absl::Status TakeBackFrom(const Pool& pool);

  // Returns how much TakeBack could unmap of the group outside captures if every driver call
  // succeeded.
  Bytes Reclaimable(const SegmentGroup& group) const;

  // Forgets the groups of `pool` if none has memory. Returns false if one has, or if the driver
  // refuses to take its address space back.
  bool Forget(const Pool& pool);

  absl::Status WaitForAll();

  // True if a graph is being captured from a stream that has memory here.
  bool IsAnyCaptured() const;

  // Merges recently freed blocks in all groups.
  void MergeRecent();

  const std::vector<std::unique_ptr<SegmentGroup>>& all() const { return groups_; }

  template <typename Visit>
  void ForEachSegment(Visit visit) const {
    for (const auto& group : groups_) {
      for (const auto& segment : group->segments().all()) visit(*segment);
    }
  }

 private:
  Lane& LaneOf(StreamId stream);
  const PlanSection* NextSection();
  absl::StatusOr<Bytes> TakeBackFrom(SegmentGroup& group, Bytes wanted, bool planned);
  absl::StatusOr<bool> WaitForUsersOf(const SegmentGroup& group);
  absl::Status WaitFor(StreamId stream);

  Vmm& card_;
  StreamEvents& events_;
  Accounting& accounting_;
  QuickGroups& quick_;
  std::vector<std::unique_ptr<Lane>> lanes_;           // one for each stream, never removed
  std::vector<std::unique_ptr<SegmentGroup>> groups_;  // by age, so that runs can be repeated
  absl::flat_hash_map<SegmentKey, SegmentGroup*> by_key_;
  const Plan* plan_ = nullptr;  // null if there is none
  DeviceIndex device_{};        // the card of the plan
  uint32_t next_planned_stream_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUPS_H_
