// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_WAITING_FREES_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_WAITING_FREES_H_

#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "allocator/blocks/block.h"
#include "allocator/card/capture_graphs.h"
#include "allocator/card/stream_events.h"
#include "allocator/frees/capture_frees.h"
#include "allocator/frees/pending_frees.h"
#include "allocator/pools/pools.h"
#include "allocator/pools/segment_groups.h"
#include "base/units.h"

namespace memtrace {

// The freed blocks of a card that other streams may still use. Each waits for events or, while a
// graph is captured from a stream that uses it or the driver cannot record an event, is put off:
// until no requests are routed to a pool any more, or until its capture's graph shows that the next
// node comes after all uses. A block that has waited long enough is completed: its group gets it
// back.
//
// If the driver refuses an event, the block is kept, and the event is requested again at the next
// request.
//
// Thread rule: guarded by the card's lock and those of all streams.
class WaitingFrees {
 public:
  // `captures` may be null. All references must outlive this.
  WaitingFrees(StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND, CaptureGraphs* captures,
               const Pools& pools ABSL_ATTRIBUTE_LIFETIME_BOUND,
               const SegmentGroups& groups ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Makes a block wait that has just been freed. REQUIRES: it has recorded streams.
  void Add(Block* block);
  // Does the same for a block for which no event is recorded yet.
  void Postpone(Block* block);

  // Completes the blocks that need not wait any longer before a request on `stream`: one query a
  // recorded stream, none if no block waits.
  void CompleteDone(StreamId stream);

  // Completes the blocks whose events are done, wherever the next request is.
  void CompleteFinished();

  // Records events for the blocks that were put off, if that is allowed again.
  void ResumePostponed();

  // Waits for all work of the card and completes the blocks that were put off, if that is allowed.
  void CompletePostponed();

  // Waits for the oldest events until a block is completed. REQUIRES: has_pending().
  absl::Status CompleteNext();

  // Waits until no block of `pool` waits for an event; of any pool if it is null.
  absl::Status CompleteAllOf(const PoolId* pool);

  // Waits for all events as far as the driver permits, and completes nothing. For the end of the
  // heap.
  void Drain();

  // Returns the blocks that were put off during a capture.
  CaptureFrees& captures() { return captures_; }

  bool has_pending() const { return !pending_.empty(); }  // blocks that wait for events
  bool empty() const { return pending_.empty() && postponed_.empty(); }

 private:
  bool MustBePostponed(const Block& block) const;
  void NoteLastUses(Block* block);
  void CompleteOrdered(StreamId stream);
  void Complete(Block* block);

  StreamEvents& events_;
  const Pools& pools_;
  const SegmentGroups& groups_;
  PendingFrees pending_;
  std::vector<Block*> postponed_;
  CaptureFrees captures_;  // the blocks in postponed_ with known last uses
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_WAITING_FREES_H_
