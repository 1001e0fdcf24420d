/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Room on a card for a request that the driver has refused. A part of memtrace.h, whose rules hold
 * here too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_ROOM_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_ROOM_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum memtrace_room_from {
  MEMTRACE_ROOM_FROM_OWN_CACHE, /* free memory of our own allocator (mode ALLOCATE) */
  MEMTRACE_ROOM_FROM_NEIGHBOURS /* free memory of other processes of this user */
};
struct memtrace_room {
  uint32_t size;
  int32_t device;
  uint64_t bytes, stream; /* of the refused request */
  int32_t from;
  int32_t kind;       /* a memtrace_outside_kind */
  const void* caller; /* as in memtrace_outside */
};
/* Returns the bytes that were given back to the driver; then the request may be made again. The
 * caller may hold locks: nothing is waited for longer than 2 s, memory that work still uses stays,
 * and a lock of our allocator that another thread holds is given up after 100 ms. Returns 0 at once
 * within a call of a memory source or of our allocator, and in a forked child. */
MEMTRACE_API uint64_t memtrace_make_room(const struct memtrace_room* wanted);

/* What our allocator has given of a card. */
struct memtrace_given_room {
  uint32_t size;
  uint32_t reserved;
  uint64_t times; /* requests of others that got any */
  uint64_t bytes_to_libraries, bytes_to_neighbours;
};
MEMTRACE_API int memtrace_get_given_room(int device, struct memtrace_given_room* given);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_ROOM_H_ */
