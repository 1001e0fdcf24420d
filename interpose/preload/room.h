// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_ROOM_H_
#define MEMTRACE_INTERPOSE_PRELOAD_ROOM_H_

#include <initializer_list>

#include "interpose/preload/driver_call.h"

namespace memtrace::preload {

// Returns true if memory has come free, so that a request which the driver has refused may succeed.
bool MakeRoom(memtrace_room_from from, const memtrace_outside& request);

// Calls `allocate`, which asks the driver for memory; if the driver has none, calls it again after
// our own allocator, and then other processes, have given what they have free. A refused call
// changes nothing, so it can be repeated. `describe` returns the request as a memtrace_outside.
template <typename Describe, typename Allocate>
CUresult CallWithRoom(const DriverCall& call, Describe describe, Allocate allocate) {
  CUresult result = allocate();
  for (const auto from : {MEMTRACE_ROOM_FROM_OWN_CACHE, MEMTRACE_ROOM_FROM_NEIGHBOURS}) {
    if (result != CUDA_ERROR_OUT_OF_MEMORY || !call.is_told()) return result;
    if (MakeRoom(from, describe())) result = allocate();
  }
  return result;
}

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_ROOM_H_
