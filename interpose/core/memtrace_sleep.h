/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory that sleeps off the card and wakes at the same addresses (mode ALLOCATE). A part of
 * memtrace.h, whose rules hold here too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_SLEEP_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_SLEEP_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Give the memory that this thread allocates until the pop to a movable owner, by the number of its
 * name (memtrace_intern). It lies in chunks of its own. The innermost owner wins. */
MEMTRACE_API void memtrace_push_movable(uint32_t name);
MEMTRACE_API void memtrace_pop_movable(void);

enum memtrace_keep {
  MEMTRACE_KEEP_HOST,   /* the contents are copied to the host */
  MEMTRACE_KEEP_NOTHING /* the contents are zeros after the wake */
};
enum memtrace_sleep_refusal {
  MEMTRACE_SLEEP_NOT_REFUSED,
  MEMTRACE_SLEEP_UNKNOWN,  /* no card has memory of the owner; at a wake: it is not asleep */
  MEMTRACE_SLEEP_ASLEEP,   /* it is asleep already */
  MEMTRACE_SLEEP_CAPTURE,  /* a graph is being captured */
  MEMTRACE_SLEEP_SHARED,   /* other processes were given blocks of it */
  MEMTRACE_SLEEP_NO_ROOM,  /* on the host at a sleep, on the card at a wake */
  MEMTRACE_SLEEP_BY_DRIVER /* memtrace_last_error tells why */
};
/* The result of memtrace_sleep and memtrace_wake, summed over the cards. */
struct memtrace_moved {
  uint32_t size;
  int32_t refusal;
  uint64_t bytes;             /* taken off the cards, or brought back */
  uint64_t host_bytes;        /* that the copies take */
  uint64_t needed, available; /* with MEMTRACE_SLEEP_NO_ROOM */
  uint64_t shared_blocks;     /* with MEMTRACE_SLEEP_SHARED */
  int32_t is_pinned;          /* 0: the host has refused to pin a copy, which is slower then */
  int32_t has_graph;          /* a graph's pool has memory of the owner */
};
/* Takes the owner's memory off the cards after all their work. MEMTRACE_INVALID_ARGUMENT with a
 * refusal, which changes nothing. Waits; must not be called within a memory source. */
MEMTRACE_API int memtrace_sleep(uint32_t name, int keep, struct memtrace_moved* moved);
/* Brings it back. After a failure the owner still sleeps, and nothing is lost. */
MEMTRACE_API int memtrace_wake(uint32_t name, struct memtrace_moved* moved);

/* A movable owner that has, or had, memory; summed over the cards. */
struct memtrace_movable {
  uint32_t size;
  int32_t is_asleep, keep;
  uint64_t on_card; /* mapped */
  uint64_t asleep;  /* what a wake will map */
  uint64_t host;    /* of the copy */
  const char* name; /* valid during the visit */
};
MEMTRACE_API int memtrace_visit_movable(void (*visit)(void* user, const struct memtrace_movable*),
                                        void* user);

/* Copies the contents that memory of a sleeping owner will have after the wake to `host`.
 * MEMTRACE_INVALID_ARGUMENT if it does not sleep with a copy. */
MEMTRACE_API int memtrace_read_asleep(uint64_t address, uint64_t bytes, void* host);

/* True if any memory of the process sleeps. One load. */
MEMTRACE_API int memtrace_has_asleep(void);
/* If memory at `address` sleeps, writes the name of its owner and returns 1. */
MEMTRACE_API int memtrace_find_asleep(const void* address, char* name, uint64_t size);

/* Returns the host's bytes that await the next sleep. */
MEMTRACE_API uint64_t memtrace_pooled_host_memory(void);
/* Gives them back to the host, and returns how many there were. */
MEMTRACE_API uint64_t memtrace_release_host_memory(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_SLEEP_H_ */
