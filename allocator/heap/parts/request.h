// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_REQUEST_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_REQUEST_H_

#include <variant>

#include "absl/status/status.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/blocks/segment_key.h"
#include "base/units.h"

namespace memtrace {

// A request to the allocator of a card. With `at`, it is served at that address or fails; with
// `only_free`, it fails at once if no free memory fits. Neither failure is an out-of-memory, so
// `is_trial` and `reject_above` have no effect on them. If both are set, `at` counts.
struct AllocationRequest {
  Bytes bytes = 0;  // more than 0
  StreamId stream{};
  ContextId context{};             // returned in every event of the block
  Bytes at_least = 0;              // the least size of the block
  bool is_trial = false;           // will be repeated: a failure is neither reported nor counted
  bool may_be_repeated = false;    // a failure is counted, but whoever asked reports it
  Bytes reject_above = ~Bytes{0};  // fails at once if the card's mapped memory would grow past this
  // The address of the block, in free memory of its stream and pool (kNotFound if that is not
  // free); null means anywhere.
  DeviceAddress at = {};
  bool is_not_free = false;  // TryAllocate has just failed for this request
  // The driver is not asked for memory and nothing is waited for; kResourceExhausted if no free
  // memory fits. If the group follows a plan, whose places are mapped on demand, only the quick
  // search can serve such a request.
  bool only_free = false;
  // The owner in whose segments the block lies, if it is not 0. TryAllocate never serves it, so
  // `is_not_free` must be set. kFailedPrecondition while the owner sleeps.
  MovableOwner movable{};
};

// The result of an allocation: an address, or the reason why there is none.
using AllocationResult = std::variant<DeviceAddress, OutOfMemoryEvent, absl::Status>;

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_REQUEST_H_
