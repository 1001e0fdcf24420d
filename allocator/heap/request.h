// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_REQUEST_H_
#define MEMTRACE_ALLOCATOR_HEAP_REQUEST_H_

#include <variant>

#include "absl/status/status.h"
#include "allocator/accounts/allocation_observer.h"
#include "base/units.h"

namespace memtrace {

// What is asked of the allocator of a card. A request with `at` is served there or fails, one with
// `only_free` fails at once if nothing is free: neither is an out-of-memory, so `is_trial` and
// `reject_above` have no effect on them. With both, `at` counts.
struct AllocationRequest {
  Bytes bytes = 0;  // more than 0
  StreamId stream{};
  ContextId context{};    // comes back in every event about the block
  Bytes at_least = 0;     // the block occupies so much
  bool is_trial = false;  // if it fails, nobody is told and nothing counted: it will be repeated
  Bytes reject_above = ~Bytes{0};  // if the card's memory would grow beyond: fails at once
  // Where the block begins, in what lies free on its stream and in its pool (kNotFound if it does
  // not); null: anywhere.
  DeviceAddress at = {};
  bool is_not_free = false;  // TryAllocate has just said so
  // No memory is asked of the driver and nothing is waited for; kResourceExhausted if nothing that
  // lies free serves. Not for a stream that follows a plan, whose places are mapped as they are
  // needed.
  bool only_free = false;
};

// What an allocation came to: an address, or why there is none.
using AllocationResult = std::variant<DeviceAddress, OutOfMemoryEvent, absl::Status>;

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_REQUEST_H_
