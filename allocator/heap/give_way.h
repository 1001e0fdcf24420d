// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_GIVE_WAY_H_
#define MEMTRACE_ALLOCATOR_HEAP_GIVE_WAY_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/base/attributes.h"
#include "allocator/card/stream_events.h"
#include "allocator/heap/card_lock.h"
#include "allocator/heap/device_heap.h"
#include "base/units.h"

namespace memtrace {

// Gives a card's free memory to somebody else who needs it: another library of the process whose
// request the driver has refused, or another process. Unlike EmptyCache it never waits without a
// limit, because the caller may hold locks of another library, and work on the card may wait for
// the very call in which memory is needed.
//
// Thread rule: any thread; it takes the card's lock, but gives up after 100 ms.
class GiveWay {
 public:
  // All references must outlive this.
  GiveWay(CardLock& lock ABSL_ATTRIBUTE_LIFETIME_BOUND,
          DeviceHeap& heap ABSL_ATTRIBUTE_LIFETIME_BOUND,
          StreamEvents& events ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : lock_(lock), heap_(heap), events_(events) {}

  // The longest time for which memory is leaving.
  static constexpr std::chrono::milliseconds kLongest{2000};

  struct Demand {
    Bytes bytes = 0;            // the size of a request that the driver has refused
    bool is_shortfall = false;  // `bytes` is what it lacks instead, whatever the card has free
    StreamId stream{};          // nothing is given while it is captured
    bool is_for_neighbour = false;
    std::chrono::milliseconds limit = kLongest;
    bool continues = false;  // what cannot be unmapped within the limit goes on leaving
  };
  struct Given {
    Bytes returned = 0;
    Bytes pending = 0;  // still leaving
  };
  // Gives what the request lacks, and a little more for the next ones; everything if the driver
  // has refused it although so much is free.
  Given Give(const Demand& demand);

  // Unmaps what has become free of work since. False if nothing is leaving (any more).
  bool Continue();

  // Returns the bytes that could be given now if the driver refused nothing.
  Bytes Offer();

  struct Counts {
    uint64_t times = 0;  // calls that gave anything
    Bytes to_libraries = 0;
    Bytes to_neighbours = 0;
  };
  Counts counts() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Ticket = LeavingMemory::Ticket;
  // The memory that one call has made leave.
  struct Leaving {
    Ticket ticket{};
    Clock::time_point until;
    bool is_for_neighbour = false;
    Bytes returned = 0;
  };

  template <typename Act>
  bool UnderLock(Act act);
  bool Start(const Demand& demand, Ticket& ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Bytes Lacking(Bytes bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void Poll(Leaving& leaving) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  void KeepExpired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_);
  Given PollUntilDone(Ticket ticket, Clock::time_point until);

  CardLock& lock_;
  DeviceHeap& heap_ ABSL_GUARDED_BY(lock_);
  StreamEvents& events_ ABSL_GUARDED_BY(lock_);
  std::vector<Leaving> leaving_ ABSL_GUARDED_BY(lock_);
  Counts counts_ ABSL_GUARDED_BY(lock_);
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_GIVE_WAY_H_
