// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_LEAVING_MEMORY_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_LEAVING_MEMORY_H_

#include <vector>

#include "absl/base/attributes.h"
#include "allocator/blocks/block.h"
#include "allocator/card/stream_events.h"
#include "allocator/pools/segment_groups.h"
#include "base/units.h"

namespace memtrace {

// The free chunks of a card that are about to be unmapped for somebody else. Work that was queued
// on their streams may still use them, and nobody may wait for it (GiveWay), so they leave in two
// steps: first they are taken out of the free memory, and each group records an event; once the
// event is done, its chunks are unmapped. In between they can be kept, all of them for a request
// that would fail otherwise.
//
// Only what SegmentGroups::TakeBack takes leaves, in its order. Nothing leaves from streams that
// are captured or refuse an event, from pools whose users' work has not been waited for, and from
// pools with a source of their own, whose functions must not be called here.
//
// Thread rule: guarded by the card's lock and those of all streams.
class LeavingMemory {
 public:
  enum class Ticket : uint64_t {};  // what one caller of Start() made leave

  // Both must outlive this.
  LeavingMemory(StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND,
                const SegmentGroups& groups ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : events_(events), groups_(groups) {}
  ~LeavingMemory();
  LeavingMemory(const LeavingMemory&) = delete;
  LeavingMemory& operator=(const LeavingMemory&) = delete;

  // Returns the bytes of the chunks that could be made to leave.
  Bytes Available() const;

  // Makes chunks leave until `wanted` bytes do or none is left.
  Ticket Start(Bytes wanted);

  // Unmaps the chunks of the ticket whose event is done. Returns the bytes unmapped.
  Bytes UnmapDone(Ticket ticket);

  // Returns the bytes of the ticket that are still leaving.
  Bytes pending(Ticket ticket) const;

  // Makes chunks of the ticket free again, or all of them. KeepAll returns false if there is none.
  void Keep(Ticket ticket);
  bool KeepAll();

 private:
  // The leaving blocks of one group.
  struct Part {
    Ticket ticket{};
    SegmentGroup* group = nullptr;
    EventId event{};
    std::vector<Block*> blocks;
  };

  Bytes StartFrom(SegmentGroup& group, Bytes wanted, bool planned, Ticket ticket);
  bool MayLeave(const SegmentGroup& group) const;
  void Keep(const Part& part);

  StreamEvents& events_;
  const SegmentGroups& groups_;
  std::vector<Part> parts_;
  uint64_t last_ticket_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_LEAVING_MEMORY_H_
