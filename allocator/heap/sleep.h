// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_SLEEP_H_
#define MEMTRACE_ALLOCATOR_HEAP_SLEEP_H_

#include <atomic>
#include <cstddef>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "allocator/blocks/segment_key.h"
#include "allocator/card/stream_events.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "allocator/heap/parts/heap_options.h"
#include "allocator/heap/parts/host_copies.h"
#include "allocator/heap/spill.h"
#include "base/units.h"

namespace memtrace {

// Takes the memory of a movable owner off the card, and brings it back at the same addresses:
//
//   on card  -- sleep, host -->     asleep, copy in host   -- wake -->  on card, contents
//   on card  -- sleep, nothing -->  asleep                 -- wake -->  on card, zeros
//
// Blocks of a sleeping owner stay in use, and may be freed; requests of the owner fail. They are
// counted, and observers are told of them, as if they had been freed and were allocated again. What
// Spill has put on the host sleeps like the rest, and wakes on the card.
//
// Thread rule: any thread; it takes the card's lock.
class Sleep {
 public:
  enum class Keep { kHost, kNothing };

  // All references must outlive this.
  Sleep(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
        DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND,
        StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND,
        Spill& spill ABSL_ATTRIBUTE_LIFETIME_BOUND, const HeapOptions& options)
      : lock_(lock),
        heap_(heap),
        events_(events),
        spill_(spill),
        host_(options.copies, options.host_limit, heap.accounting().host()) {}

  // The result of a call, also of one that failed.
  struct Moved {
    Bytes bytes = 0;      // taken off the card, or brought back
    Bytes host = 0;       // of the host that the copy takes
    Bytes needed = 0;     // what was missing: of the host at a sleep, of the card at a wake
    Bytes available = 0;  // and what there was of it
    size_t shared = 0;    // blocks that other processes have been given
    bool is_pinned = true;
    bool has_graph = false;  // a pool of a graph has memory of the owner
  };

  // Waits for all work of the card, then takes the memory away. A refusal changes nothing:
  // kNotFound if the card has no memory of the owner, kAlreadyExists if it is asleep, kUnavailable
  // while a graph is captured, kFailedPrecondition if blocks were shared with other processes,
  // kResourceExhausted if the host has no room. If the driver refuses to unmap a part, the owner is
  // asleep all the same; PutToSleep then tries the rest again.
  absl::Status PutToSleep(MovableOwner owner, Keep keep, Moved& moved);

  // kNotFound if the owner is not asleep here. After any other failure it is still asleep, and
  // nothing is lost; kResourceExhausted if the card has no room.
  absl::Status Wake(MovableOwner owner, Moved& moved);

  // An owner with memory on the card, or asleep.
  struct Owner {
    MovableOwner owner{};
    bool is_asleep = false;
    Keep keep = Keep::kNothing;
    Bytes on_card = 0;  // mapped
    Bytes asleep = 0;   // that a wake will map
    Bytes host = 0;     // of the copy
  };
  std::vector<Owner> owners();

  // Copies what the range will contain after the wake. kNotFound unless it sleeps with a copy.
  absl::Status Read(const AddressRange& range, void* host);
  // Returns the owner whose sleeping memory contains the address; 0 if there is none.
  MovableOwner OwnerAsleepAt(DeviceAddress address);
  // False as long as nothing sleeps on any card of the process. One load.
  static bool is_any_asleep() { return sleeping.load(std::memory_order_relaxed) > 0; }

  // Gives the host's memory that no copy uses back. Returns its bytes.
  Bytes ReleaseHostMemory();
  // Returns the bytes of the host that await the next sleep.
  Bytes pooled();

 private:
  struct Sleeper {
    Keep keep = Keep::kNothing;
    HostCopies::Copy copy;
    bool is_falling_asleep = true;
  };
  using Groups = std::vector<SegmentGroup*>;

  absl::Status Begin(MovableOwner owner, Keep keep, Moved& moved)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status Finish(MovableOwner owner, Moved& moved) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status SaveContents(MovableOwner owner, Sleeper& sleeper, Moved& moved)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  // Count and report the blocks in use as freed while they sleep, and as allocated when they wake.
  void CountAsleep(const Groups& groups) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void CountAwake(const Groups& groups) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status CompleteFrees(MovableOwner owner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status PutAway(MovableOwner owner, Moved& moved) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status BringBack(MovableOwner owner, Moved& moved) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status MakeRoom(Moved& moved) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  absl::Status Fill(MovableOwner owner, const Sleeper& sleeper)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  bool HasMemory(MovableOwner owner) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Groups GroupsOf(MovableOwner owner) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  std::vector<AddressRange> RangesInUse(MovableOwner owner) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);

  static inline std::atomic<int> sleeping = 0;  // owners, on all cards

  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
  StreamEvents& events_;
  Spill& spill_;
  HostCopies host_ ABSL_GUARDED_BY(lock_);
  absl::btree_map<MovableOwner, Sleeper> sleepers_ ABSL_GUARDED_BY(lock_);
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_SLEEP_H_
