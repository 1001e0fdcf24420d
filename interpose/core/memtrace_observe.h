/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Changes of memory: those of our allocator for a watcher, and those of another allocator for us. A
 * part of memtrace.h, whose rules hold here too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_OBSERVE_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_OBSERVE_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum memtrace_change_kind {
  MEMTRACE_CHANGE_ALLOCATED,
  MEMTRACE_CHANGE_FREE_REQUESTED,
  MEMTRACE_CHANGE_FREE_COMPLETED,
  MEMTRACE_CHANGE_MAPPED,
  MEMTRACE_CHANGE_UNMAPPED
};
struct memtrace_change {
  uint32_t size;
  int32_t kind;
  int32_t device;
  uint64_t address, bytes, stream; /* bytes of a block: as requested */
  struct memtrace_pool pool;
};
/* From now on, tells `watch` (mode ALLOCATE) of every change to the memory of all cards, in the
 * order in which they happen on a card; changes of two cards may come at once. It is called under
 * the card's lock: it must not call back, and must not wait for Python's interpreter. It cannot be
 * removed, because a thread may be in it. MEMTRACE_INVALID_ARGUMENT if there is one already. */
MEMTRACE_API int memtrace_watch(void (*watch)(void* user, const struct memtrace_change*),
                                void* user);

enum memtrace_observed_kind {
  MEMTRACE_OBSERVED_ALLOCATE,
  MEMTRACE_OBSERVED_FREE_REQUESTED,
  MEMTRACE_OBSERVED_FREE_COMPLETED,
  MEMTRACE_OBSERVED_MAP,  /* segment_alloc, segment_map */
  MEMTRACE_OBSERVED_UNMAP /* segment_free, segment_unmap */
};
struct memtrace_observed {
  uint32_t size;
  int32_t kind;
  int32_t device;
  uint64_t address, bytes, stream; /* bytes as requested */
  uint64_t context; /* from memtrace_capture_context, for ALLOCATE; 0 if there is none */
  /* ALLOCATE: the least bytes that the block occupies; 0: `bytes` rounded up to 512. It also
   * occupies the rest of the free memory that it is cut from, if that is at most `unsplit` bytes.
   */
  uint64_t occupied, unsplit;
  int32_t is_segment; /* MAP: no block reaches beyond it; 0: it continues an adjacent one */
  uint64_t pool_first, pool_second; /* the pool that it belongs to; 0, 0: the default one */
};
/* Tells of one change (mode OBSERVE), in the order in which things happened on the card. May be
 * called under the other allocator's lock. */
MEMTRACE_API void memtrace_observe(const struct memtrace_observed* event);

/* The other allocator's figures when it gave up. */
struct memtrace_observed_out_of_memory {
  uint32_t size;
  int32_t device;
  uint64_t requested, context;
  uint64_t device_free, device_total, limit;
  uint64_t reserved, active, allocated, inactive_split; /* bytes, as torch names them */
};
/* Writes an out-of-memory of the other allocator into the trace. Called outside its lock. */
MEMTRACE_API void memtrace_observe_out_of_memory(
    const struct memtrace_observed_out_of_memory* event);
/* Copies the explanation of the latest of these into `text`, cut at size - 1 bytes, and forgets it,
 * because it belongs in one error only. Returns its length; 0 if there is none. Any thread. */
MEMTRACE_API uint64_t memtrace_take_explanation(char* text, uint64_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_OBSERVE_H_ */
