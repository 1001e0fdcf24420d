// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_MOVEMENT_H_
#define MEMTRACE_ALLOCATOR_HEAP_MOVEMENT_H_

#include "absl/base/attributes.h"
#include "allocator/card/stream_events.h"
#include "allocator/card/vmm.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "allocator/heap/give_way.h"
#include "allocator/heap/graph_turns.h"
#include "allocator/heap/parts/heap_options.h"
#include "allocator/heap/sleep.h"
#include "allocator/heap/spill.h"

namespace memtrace {

// The parts that move a card's memory out of the way, and back.
//
// Thread rule: any thread; each part takes the card's lock itself.
class Movement {
 public:
  // All references must outlive this.
  Movement(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
           DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND, Vmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
           StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND, const HeapOptions& options)
      : lock_(lock),
        heap_(heap),
        give_way_(lock, heap, events),
        spill_(lock, heap, vmm, events, options),
        sleep_(lock, heap, events, spill_, options),
        graph_turns_(lock, heap, events) {}

  // Free memory for somebody else.
  GiveWay& give_way() { return give_way_; }
  // Memory of movable owners, which sleeps and wakes.
  Sleep& sleep() { return sleep_; }
  // Memory of blocks in use, on the host while the card is full.
  Spill& spill() { return spill_; }
  // Memory that several graphs use in turns.
  GraphTurns& graph_turns() { return graph_turns_; }

  // Ends a step of the program: what the rules for cached memory no longer keep goes.
  void EndStep() {
    const CardLock::Holder lock(lock_);
    heap_.EndStep();
  }

 private:
  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
  GiveWay give_way_;
  Spill spill_;
  Sleep sleep_;  // refers to spill_
  GraphTurns graph_turns_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_MOVEMENT_H_
