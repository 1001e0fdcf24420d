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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_SPILL_H_ */
