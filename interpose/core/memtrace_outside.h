/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory that the program takes from the driver itself (libmemtrace_preload.so). A part of
 * memtrace.h, whose rules hold here too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_OUTSIDE_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_OUTSIDE_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of OutsideKind in profiler/trace/events/event.h. */
enum memtrace_outside_kind {
  MEMTRACE_OUTSIDE_DEVICE,
  MEMTRACE_OUTSIDE_STREAM_ORDERED,
  MEMTRACE_OUTSIDE_PHYSICAL, /* of cuMemCreate */
  MEMTRACE_OUTSIDE_MANAGED,
  MEMTRACE_OUTSIDE_HOST,
  MEMTRACE_OUTSIDE_REGISTERED
};
struct memtrace_outside {
  uint32_t size;
  int32_t kind;
  int32_t device;
  uint64_t address; /* for PHYSICAL: the handle */
  uint64_t bytes, stream;
  const void* caller; /* return address in the program, where its stack begins; NULL: no stack */
};
/* Our own allocator's calls of the driver must not be passed here. All of these do nothing before
 * memtrace_start. The caller must hold no lock that another thread may want while it loads a
 * library or, for HOST memory, while it holds the interpreter's lock: the first stack from a module
 * asks the loader for its name, and torch's host memory has Python's frames. */
MEMTRACE_API void memtrace_outside_allocated(const struct memtrace_outside* memory);
/* Call this before the memory is given back, because another thread may then get the address.
 * Returns 1 if it was known; if the driver then refuses, pass `*was` to memtrace_outside_allocated.
 */
MEMTRACE_API int memtrace_outside_freed(uint64_t address, struct memtrace_outside* was);
/* Tells that the driver had no memory left for this request. */
MEMTRACE_API void memtrace_outside_failed(const struct memtrace_outside* wanted);
/* PHYSICAL memory is known by its handle. It is gone when it is released as often as it was created
 * and retained, and mapped nowhere. Unknown handles and addresses are ignored; unmapping removes
 * the mappings that lie entirely in the range. */
MEMTRACE_API void memtrace_outside_mapped(uint64_t handle, uint64_t address, uint64_t bytes);
MEMTRACE_API void memtrace_outside_unmapped(uint64_t address, uint64_t bytes);
MEMTRACE_API void memtrace_outside_retained(uint64_t handle);
MEMTRACE_API void memtrace_outside_released(uint64_t handle);
/* Tells that the card's primary context was reset: all its memory is gone. */
MEMTRACE_API void memtrace_outside_reset(int device);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_OUTSIDE_H_ */
