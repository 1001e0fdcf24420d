/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the host that serves requests which would otherwise fail (MEMTRACE_SPILL, mode
 * ALLOCATE). A part of memtrace.h, whose rules hold here too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_SPILL_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_SPILL_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What of a card is, or was, on the host. */
struct memtrace_spilled {
  uint32_t size;
  int32_t is_on; /* 0: MEMTRACE_SPILL is not set, or the driver cannot do it */
  uint64_t limit;
  uint64_t on_host;   /* now */
  uint64_t moved;     /* to the host, since the process started */
  uint64_t came_back; /* to the card */
  uint64_t times;     /* requests for which memory moved */
};
MEMTRACE_API int memtrace_get_spilled(int device, struct memtrace_spilled* spilled);

/* Sets a function to call before memory is chosen that moves to the host, on the thread of the
 * request, with no lock of ours held: the Python side labels then what it knows. NULL removes it.
 */
MEMTRACE_API void memtrace_set_before_spill(void (*callback)(void* user), void* user);

/* Within that function: states that a model is idle, by addresses within its tensors on a card.
 * What movable owners have of it moves first, and of several models the one stated first. */
MEMTRACE_API void memtrace_note_idle(int device, const uint64_t* addresses, uint64_t count);

/* With MEMTRACE_SPILL and MEMTRACE_CUPTI both set, memory that no operation of the program uses
 * moves first. Call this after memtrace_start and before memory is requested. Returns 1 if uses are
 * wanted: memtrace_note_uses must then be called before each operation, because memory whose uses
 * nobody notes counts as unused. Returns 0 if they are not. */
MEMTRACE_API int memtrace_follow_uses(void);

/* Notes that an operation uses memory, by the addresses where its tensors' storages begin, of any
 * card. While a pool is served (memtrace_begin_routing) it counts as part of a graph, whose replays
 * nobody notes, so that memory never counts as unused. Any thread, with no lock of ours held.
 * Addresses in no block are ignored; it never fails. */
MEMTRACE_API void memtrace_note_uses(const uint64_t* addresses, uint64_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_SPILL_H_ */
