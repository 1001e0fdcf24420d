/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Private pools: memory of captured graphs and of torch.cuda.MemPool (mode ALLOCATE). A part of
 * memtrace.h, whose rules hold here too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_POOLS_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_POOLS_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pool exists from its first memtrace_retain_pool until it has neither users nor memory; the
 * calls below return MEMTRACE_INVALID_ARGUMENT if it does not exist. While it has users, none of
 * its memory is given back to the driver. */
MEMTRACE_API int memtrace_retain_pool(int device, const struct memtrace_pool* pool);
/* Removes one user. */
MEMTRACE_API int memtrace_release_pool(int device, const struct memtrace_pool* pool);
/* Fills in the number of users. */
MEMTRACE_API int memtrace_pool_uses(int device, const struct memtrace_pool* pool, int* uses);
/* Gives each block of the pool a segment of its own from now on. */
MEMTRACE_API int memtrace_set_pool_no_split(int device, const struct memtrace_pool* pool);
/* Lets free memory of the pool serve requests of the default pool that would fail otherwise. With
 * `use` 0, which is the default, it does not. */
MEMTRACE_API int memtrace_set_pool_use_on_oom(int device, const struct memtrace_pool* pool,
                                              int use);

/* Functions that give a pool its memory, in place of the driver. They are called under the card's
 * lock and must not call back. `allocate` returns NULL if there is no memory. `drop` may be NULL;
 * it is called once, when `user` is no longer needed, which may be before the process ends. */
struct memtrace_memory_source {
  uint32_t size;
  void* user;
  void* (*allocate)(void* user, uint64_t bytes, uint64_t stream);
  void (*deallocate)(void* user, void* address, uint64_t bytes, uint64_t stream);
  void (*drop)(void* user);
};
/* Sets the source of a pool. MEMTRACE_INVALID_ARGUMENT if the pool has memory already. */
MEMTRACE_API int memtrace_set_pool_source(int device, const struct memtrace_pool* pool,
                                          const struct memtrace_memory_source* source);

/* Chooses requests by their stream: `takes` returns 1 for those that the pool serves. It is called
 * in the thread of the request, under the card's lock, and must not call back. `drop` works as in a
 * memory source. */
struct memtrace_stream_filter {
  uint32_t size;
  void* user;
  int (*takes)(void* user, uint64_t stream);
  void (*drop)(void* user);
};
/* Serves the requests that the filter chooses from the pool, until memtrace_end_routing. */
MEMTRACE_API int memtrace_begin_routing(int device, const struct memtrace_pool* pool,
                                        const struct memtrace_stream_filter* filter);
MEMTRACE_API int memtrace_end_routing(int device, const struct memtrace_pool* pool);

/* Lets memory that other streams of a capture have used (memtrace_record_stream) be reused within
 * the capture as soon as its graph orders those uses first. With 0, which is the default, it is
 * reused only after the capture. */
MEMTRACE_API int memtrace_set_capture_reuse(int device, int reuse);

/* Notes which blocks of a pool are in use now. The caller gives the checkpoint to
 * memtrace_drop_checkpoint; it is NULL on failure. */
struct memtrace_checkpoint;
MEMTRACE_API int memtrace_checkpoint_pool(int device, const struct memtrace_pool* pool,
                                          struct memtrace_checkpoint** checkpoint);
/* Frees every block of the pool and takes those of the checkpoint again; afterwards `visit` is
 * called for each, freed ones first, with no lock held. MEMTRACE_INVALID_ARGUMENT, with no effect,
 * if the pool no longer has their memory. */
MEMTRACE_API int memtrace_restore_pool(int device, const struct memtrace_checkpoint* checkpoint,
                                       void (*visit)(void* user, void* address, int is_allocated),
                                       void* user);
/* Frees the checkpoint; NULL is allowed. */
MEMTRACE_API void memtrace_drop_checkpoint(struct memtrace_checkpoint* checkpoint);

enum memtrace_turns_refusal {
  MEMTRACE_TURNS_NOT_REFUSED,
  MEMTRACE_TURNS_TOO_FEW,  /* no card knows two of the pools */
  MEMTRACE_TURNS_CAPTURE,  /* a graph is being captured */
  MEMTRACE_TURNS_BY_DRIVER /* memtrace_last_error tells why */
};
/* The result of memtrace_take_turns, summed over the cards. */
struct memtrace_turns {
  uint32_t size;
  int32_t refusal;
  uint64_t saved;          /* bytes that the pools have given back */
  int32_t has_lost_memory; /* the driver has failed: graphs of a pool must not be replayed */
  uint32_t reserved;
};
/* Maps the same memory where pools have free memory. After the captures this holds only values that
 * no later replay needs. The caller lets no two graphs of the pools run at the same time, from now
 * on, and none during the call. Waits for all work of the cards. MEMTRACE_INVALID_ARGUMENT with a
 * refusal, which changes nothing. */
MEMTRACE_API int memtrace_take_turns(const struct memtrace_pool* pools, uint64_t count,
                                     struct memtrace_turns* turns);

enum memtrace_replay {
  MEMTRACE_REPLAY_MAY_RUN,
  MEMTRACE_REPLAY_ASLEEP, /* memory of the pool is asleep (memtrace_sleep) */
  MEMTRACE_REPLAY_LOST    /* memtrace_turns.has_lost_memory */
};
/* Tells if graphs of a pool may be replayed now; if its memory is asleep, writes the owner's name.
 */
MEMTRACE_API int memtrace_replay_obstacle(const struct memtrace_pool* pool, char* name,
                                          uint64_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_POOLS_H_ */
