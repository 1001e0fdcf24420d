// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_ALLOCATE_WITH_ROOM_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_ALLOCATE_WITH_ROOM_H_

#include "allocator/heap/caching_allocator.h"

namespace memtrace {

// Serves a request. If the card has no room, other processes are asked for theirs, then memory in
// use moves to the host, before the request fails. No lock of an allocator may be held.
AllocationResult AllocateWithRoom(CachingAllocator& allocator, AllocationRequest request);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_ALLOCATE_WITH_ROOM_H_
