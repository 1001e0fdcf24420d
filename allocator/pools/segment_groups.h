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

// All memory that is mapped on a card, by group, and the way back: whole free chunks are unmapped
// for whoever needs them.
//
// A free block's memory is still in use by work queued on its own stream at most: what other
// streams were recorded is waited for before a block becomes free. So a chunk may change its owner
// once an event on the owner's stream is done. A pool that has lost its users is different: graphs
// may have been replayed on any stream, so everything is waited for, once.
//
// Not taken from: pools with users, and streams from which a graph is being captured, where no
// event can be waited for.
//
// Thread rule: none, the owner's lock guards it.
class SegmentGroups {
 public:
  static constexpr Bytes kEverything = ~Bytes{0};

  // References must outlive this.
  SegmentGroups(Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND,
                StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND,
                Accounting& accounting ABSL_ATTRIBUTE_LIFETIME_BOUND,
                QuickGroups& quick ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : card_(card), events_(events), accounting_(accounting), quick_(quick) {}

  // Groups for large requests of the default pool that are made from now on follow the sections of
  // `plan`, which must outlive this, for the streams as they come.
  void Follow(const Plan& plan, DeviceIndex device) {
    plan_ = &plan;
    device_ = device;
  }

  // The group of a key, made if it is new. `pool` is the one that the key names, null for {0, 0}.
  SegmentGroup& Of(const SegmentKey& key, Pool* pool);

  // Null if there is none.
  SegmentGroup* Find(const SegmentKey& key) const;

  // Returns the group that a block belongs to.
  SegmentGroup& OwnerOf(const Block& block) const { return *Find(block.segment->key()); }

  // The group whose block in use starts there; null if there is none.
  SegmentGroup* OwnerOf(DeviceAddress address) const;

  absl::StatusOr<ExpandableSegment*> AddSegment(SegmentGroup& group, const SegmentShape& shape);

  // Unmaps whole free chunks until `wanted` bytes are unmapped or none is left: other groups', by
  // age, and those of `last`, whose growth is planned beside its free ranges, at the end. Memory
  // that a plan has places in comes after all other.
  absl::Status TakeBack(Bytes wanted, const SegmentGroup* last);

  // Unmaps the whole free chunks of one pool.
  absl::Status TakeBackFrom(const Pool& pool);

  // What TakeBack could unmap of the group if every driver call succeeded.
  Bytes Reclaimable(const SegmentGroup& group) const;

  // Forgets the groups of `pool` if none has memory; false if one has, or the driver does not take
  // its address space back.
  bool Forget(const Pool& pool);

  absl::Status WaitForAll();

  // Whether a graph is being captured from a stream that has memory here.
  bool IsAnyCaptured() const;

  // Merges what was freed recently, in all groups.
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
  std::vector<std::unique_ptr<Lane>> lanes_;           // a stream each; for ever
  std::vector<std::unique_ptr<SegmentGroup>> groups_;  // by age, so that runs can be repeated
  absl::flat_hash_map<SegmentKey, SegmentGroup*> by_key_;
  const Plan* plan_ = nullptr;  // if there is one
  DeviceIndex device_{};        // of the plan
  uint32_t next_planned_stream_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_POOLS_SEGMENT_GROUPS_H_
