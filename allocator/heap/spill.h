// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_SPILL_H_
#define MEMTRACE_ALLOCATOR_HEAP_SPILL_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "allocator/card/stream_events.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "allocator/heap/parts/heap_options.h"
#include "allocator/segment/chunk_exchange.h"
#include "base/units.h"

namespace memtrace {

// Puts memory of the host behind blocks in use, at the same addresses, when a card is full, and
// brings the card's memory back when it has room:
//
//   on card  -- PutOnHost -->  on host  -- EndStep -->  on card
//
// Blocks on the host stay in use and may be freed; what is free between them is not offered to
// requests. They are counted, and observers are told of them, as if they had been freed and were
// allocated again, so all figures of a card are about the card's own memory. Only large blocks of
// the default pool move, without a plan, and those of movable owners that are awake.
//
// Failures: a failed driver call leaves everything as before it. If the driver also refuses to map
// memory where it was, the blocks there have none until the next call has mapped it (is_torn); they
// count as on the host, so nobody else gets their addresses.
//
// Thread rule: any thread; it takes the card's lock. No thread of the program may launch work that
// uses the victims during a move.
class Spill {
 public:
  // All references must outlive this.
  Spill(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
        DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
        StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND, const HeapOptions& options);

  // Addresses of blocks in use, in classes: those of the first move first. Of a block that has
  // moved in part, the rest moves.
  using Victims = std::vector<std::vector<DeviceAddress>>;
  struct Moved {
    Bytes bytes = 0;
    Bytes freed = 0;  // as EndStep says
    std::vector<Bytes> by_class;
    // Why no more moved: kResourceExhausted if the limit or the host has no room, kUnimplemented if
    // the driver cannot put memory of the host at a card's addresses, kUnavailable while a graph is
    // captured. OK if enough moved, or nothing else may move.
    absl::Status status;
  };
  // Moves at least `wanted` bytes, if there are as many, after all work of the card.
  Moved PutOnHost(const Victims& victims, Bytes wanted);

  // Gives free what blocks that were freed on the host still have, there and on the card, after all
  // work of the card. Returns the bytes that left the host.
  Bytes FreeLeftBlocks();

  struct CameBack {
    Bytes bytes = 0;
    Bytes freed = 0;  // blocks of the host that the program has freed: nothing was copied
  };
  // Ends a step of the program. What leaves again in the next step stays on the host for 8 steps,
  // then 16, and so on.
  CameBack EndStep();

  // Undoes what the driver has refused to undo before, and gives back what freed blocks have of the
  // host. REQUIRES: the caller holds the card's lock, and all work of the card is done.
  absl::Status Settle() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Returns the blocks in use that have moved, wholly or in part, in ascending order.
  std::vector<DeviceAddress> BlocksOnHost() const;
  // Returns which of these blocks in use belong to movable owners, in ascending order.
  std::vector<DeviceAddress> OfMovableOwners(const std::vector<DeviceAddress>& blocks) const;

  // True if memory may be put on the host.
  bool is_on() const { return exchange_ != nullptr; }
  // Returns the bytes of the host that are in use now.
  Bytes on_host() const;
  Bytes limit() const { return limit_; }
  // True while blocks have no memory, as above.
  bool is_torn() const;

 private:
  static constexpr uint32_t kFirstRest = 8;

  struct Piece {
    SegmentGroup* group = nullptr;
    ExpandableSegment* segment = nullptr;  // is not dropped, because the piece counts as mapped
    AddressRange range;
  };

  // Returns OK when all work of the card is done; kUnavailable while a graph is captured.
  absl::Status WaitForWork();
  bool HasLeft() const;
  bool MayMove(const SegmentGroup& group) const;
  // Calls `visit(group, segment)` for each segment that memory may move from.
  void ForEachSegment(const std::function<void(SegmentGroup&, ExpandableSegment&)>& visit) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Bytes MoveClass(const std::vector<DeviceAddress>& victims, Bytes wanted, absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Bytes MovePiece(const Piece& piece, absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void MarkOnHost(const Piece& piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void MarkOnCard(const Piece& piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status Mend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void NoteTorn(const Piece& piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Bytes OnHost() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Bytes FreeLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Bytes RoomOnCard() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Bytes BringBack() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void TakeBackFor(Bytes bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void NoteLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);

  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
  StreamEvents& events_;
  const Bytes limit_;
  const bool has_age_;
  const std::unique_ptr<ChunkExchange> exchange_;     // null if spill is off
  std::optional<Piece> torn_ ABSL_GUARDED_BY(lock_);  // that has no memory
  Bytes peak_ ABSL_GUARDED_BY(lock_) = 0;  // of the card's memory in use, in the last step
  uint32_t steps_here_ ABSL_GUARDED_BY(lock_) = ~uint32_t{0};  // since something came back
  uint32_t rest_ ABSL_GUARDED_BY(lock_) = 0;                   // steps that are still to be waited
  uint32_t next_rest_ ABSL_GUARDED_BY(lock_) = kFirstRest;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_SPILL_H_
