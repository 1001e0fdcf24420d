/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C ABI of libmemtrace.so: what the torch shim, the preload library and the Python package
 * call.
 *
 * Structs begin with `size`, set by the caller to sizeof; they only grow at the end. Nothing throws
 * across this border. Bytes are bytes, times nanoseconds, devices CUDA ordinals, streams the value
 * of the handle (0 = legacy default). Thread rule: any function from any thread, unless it says
 * otherwise. No function needs or takes Python's interpreter lock but memtrace_capture_context and
 * memtrace_python_frames, and none of them is called back under a lock of ours.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_H_

#include <stddef.h>
#include <stdint.h>

#include "interpose/core/memtrace_base.h"
#include "interpose/core/memtrace_outside.h"
#include "interpose/core/memtrace_program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum memtrace_status {
  MEMTRACE_OK = 0,
  MEMTRACE_OUT_OF_MEMORY = 1,
  MEMTRACE_INVALID_ARGUMENT =
      2, /* an address that is no block in use, a device that does not exist ... */
  MEMTRACE_NOT_STARTED = 3, /* memtrace_start has not been called */
  MEMTRACE_INTERNAL = 4,    /* the driver refused; memtrace_last_error says how */
  MEMTRACE_UNSUPPORTED = 5  /* not with this memory or this card */
};

/* Roles and phases: the numbers of profiler/trace/events/event.h. */

/* ---- life
 * -------------------------------------------------------------------------------------------------
 */

MEMTRACE_API uint32_t memtrace_abi_version(void);

/* The last error of this thread, one sentence, never NULL. Valid until the thread's next call. */
MEMTRACE_API const char* memtrace_last_error(void);
/* The driver's number (CUresult) if it was the driver that refused, else 0. */
MEMTRACE_API int memtrace_last_driver_result(void);

/* A fact for the trace's header ("script", "torch" ...: profiler/trace/format.md). Before
 * memtrace_start. */
MEMTRACE_API void memtrace_set_info(const char* key, const char* value);

enum memtrace_mode {
  MEMTRACE_MODE_ALLOCATE = 0, /* our allocator serves the process */
  MEMTRACE_MODE_OBSERVE = 1,  /* another allocator does; its events come by memtrace_observe */
  MEMTRACE_MODE_OUTSIDE = 2   /* there is none so far: what the program takes from the driver itself
                                 (memtrace_outside_allocated) is all there is. May be followed by one
                                 start in another mode, from which on it counts as outside */
};

/* CUDA is about to be used with `device_count` cards: opens the trace (MEMTRACE_OUTPUT; a trace
 * that cannot be written is said once on stderr and the program goes on), makes an allocator per
 * card. A second call does nothing. */
MEMTRACE_API int memtrace_start(int device_count, int mode);

/* Ends the trace: what is alive now is the live set at its end. Allocation goes on to work. */
MEMTRACE_API void memtrace_close(void);

/* 0 if MEMTRACE_TRACE=0 asked for no trace: contexts need not be captured then. */
MEMTRACE_API int memtrace_is_recorded(void);

/* Path of the trace being written; "" if there is none. Valid until the process ends. */
MEMTRACE_API const char* memtrace_trace_path(void);

/* ---- the allocator (mode ALLOCATE)
 * -------------------------------------------------------------------------- */

/* Who asks: Python frames of the calling thread, tags, module. To be called BEFORE any lock is
 * held, because it takes the interpreter's lock; the result goes to memtrace_allocate. 0 if nothing
 * is known. */
MEMTRACE_API uint64_t memtrace_capture_context(void);

/* The same for a thread inside a call of the driver: native frames from `caller`, a return address,
 * outwards (NULL: none) instead of Python's. Takes no lock but the loader's, for a module seen the
 * first time. */
MEMTRACE_API uint64_t memtrace_capture_native_context(const void* caller);

struct memtrace_out_of_memory {
  uint32_t size;
  int32_t device;
  uint64_t requested;
  uint64_t allocated;   /* after rounding */
  uint64_t obtainable;  /* the largest request that could have been served */
  uint64_t limit;       /* most bytes this process may reserve; all ones if unlimited */
  uint64_t device_free; /* driver's figures */
  uint64_t device_total;
  uint64_t live_allocated;
  uint64_t reserved;
  char explanation[1024]; /* verdict and the three largest owners, ready to print, several lines */
  int32_t is_rejected;    /* by memtrace_request.reject_above; without explanation */
};

/* bytes > 0. On MEMTRACE_OUT_OF_MEMORY `*out_of_memory` is filled in and an event is in the trace.
 */
MEMTRACE_API int memtrace_allocate(int device, uint64_t bytes, uint64_t stream, uint64_t context,
                                   void** address, struct memtrace_out_of_memory* out_of_memory);
/* The same, and the block occupies `at_least` bytes. */
struct memtrace_request {
  uint32_t size;
  int32_t device;
  uint64_t bytes, at_least, stream, context;
  int32_t is_trial; /* an out-of-memory is told nobody: the request will be repeated */
  /* If more than so many bytes would have to be mapped, the request fails at once, with
   * is_rejected, and nobody is told; 0: no such rule. */
  uint64_t reject_above;
  /* The block begins here, in memory of the request's stream and pool that is mapped and free;
   * MEMTRACE_INVALID_ARGUMENT if that is not so. 0: anywhere. */
  uint64_t at;
  int32_t is_not_free; /* memtrace_take_free has just said null: it is not asked again */
  /* The driver is asked for no memory and nobody waits: MEMTRACE_OUT_OF_MEMORY, of which nobody is
   * told, if nothing that lies free serves, or if the stream follows a plan. */
  int32_t only_free;
};
MEMTRACE_API int memtrace_allocate_request(const struct memtrace_request* request, void** address,
                                           struct memtrace_out_of_memory* out_of_memory);
/* The first part of it, and nearly always enough: what lies free on the stream, without asking the
 * driver or waiting. Null if that does not serve, or for whatever other reason; nothing has
 * happened then, and memtrace_allocate_request says more. */
MEMTRACE_API void* memtrace_take_free(int device, uint64_t bytes, uint64_t at_least,
                                      uint64_t stream, uint64_t context);
MEMTRACE_API int memtrace_deallocate(void* address);
MEMTRACE_API int memtrace_record_stream(void* address, uint64_t stream);
MEMTRACE_API int memtrace_empty_cache(void);
/* A private pool (torch's MempoolId_t); {0, 0} is the default one. */
struct memtrace_pool {
  uint64_t first, second;
};
/* The same for one private pool, on every card, if it has no users; {0, 0} is all of them. */
MEMTRACE_API int memtrace_empty_pool(const struct memtrace_pool* pool);
/* Caps what the process reserves on the card, in bytes. */
MEMTRACE_API int memtrace_set_limit(int device, uint64_t bytes);
MEMTRACE_API int memtrace_base_allocation(const void* address, void** base, uint64_t* bytes);

struct memtrace_statistic {
  int64_t current, peak, allocated, freed;
};
enum memtrace_statistic_kind {
  MEMTRACE_ALLOCATION,
  MEMTRACE_SEGMENT,
  MEMTRACE_ACTIVE,
  MEMTRACE_INACTIVE_SPLIT,
  MEMTRACE_ALLOCATED_BYTES,
  MEMTRACE_RESERVED_BYTES,
  MEMTRACE_ACTIVE_BYTES,
  MEMTRACE_INACTIVE_SPLIT_BYTES,
  MEMTRACE_REQUESTED_BYTES,
  MEMTRACE_STATISTIC_KINDS
};
/* Names and meanings of torch.cuda.memory_stats(); second index: all, small pool, large pool. */
struct memtrace_statistics {
  uint32_t size;
  uint32_t reserved;
  struct memtrace_statistic by_kind[MEMTRACE_STATISTIC_KINDS][3];
  int64_t num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free;
};
MEMTRACE_API int memtrace_get_statistics(int device, struct memtrace_statistics* statistics);
/* Calls `visit` for each private pool there ever was with the bytes mapped for it: all, small,
 * large; no lock is held meanwhile. */
MEMTRACE_API int memtrace_visit_pools(int device,
                                      void (*visit)(void* user, const struct memtrace_pool*,
                                                    const struct memtrace_statistic reserved[3]),
                                      void* user);
MEMTRACE_API int memtrace_reset_peak_statistics(int device);
MEMTRACE_API int memtrace_reset_accumulated_statistics(int device);

enum memtrace_block_state {
  MEMTRACE_BLOCK_ALLOCATED,
  MEMTRACE_BLOCK_PENDING_FREE,
  MEMTRACE_BLOCK_FREE
};
struct memtrace_block {
  uint64_t address, bytes, requested;
  int32_t state;
};
struct memtrace_segment {
  uint32_t size;
  int32_t device;
  uint64_t address, bytes, stream;
  int32_t small;
  uint64_t block_count;
  const struct memtrace_block* blocks; /* tile the segment; valid during the visit */
  struct memtrace_pool pool;
  int32_t expandable; /* 0: a pool's own memory, or one block alone */
};
/* Calls `visit` for each contiguous mapped range of the card, by ascending address; no lock is held
 * meanwhile. */
MEMTRACE_API int memtrace_visit_segments(int device,
                                         void (*visit)(void* user, const struct memtrace_segment*),
                                         void* user);

/* ---- private pools (mode ALLOCATE): memory of captured graphs and of torch.cuda.MemPool
 * -------------------------------------------------------------------------- */

/* A pool exists from its first memtrace_retain_pool until it has neither users nor memory; the
 * calls below answer MEMTRACE_INVALID_ARGUMENT if it does not exist. While it has users, nothing
 * of it is given back to the driver. */
MEMTRACE_API int memtrace_retain_pool(int device, const struct memtrace_pool* pool);
MEMTRACE_API int memtrace_release_pool(int device, const struct memtrace_pool* pool);
MEMTRACE_API int memtrace_pool_uses(int device, const struct memtrace_pool* pool, int* uses);
/* From now on each of its blocks has a segment of its own. */
MEMTRACE_API int memtrace_set_pool_no_split(int device, const struct memtrace_pool* pool);
/* Whether what lies free in it may serve requests of the default pool that fail otherwise. */
MEMTRACE_API int memtrace_set_pool_use_on_oom(int device, const struct memtrace_pool* pool,
                                              int use);

/* Where the memory of a pool comes from instead. Called under the card's lock: none may call back.
 * `allocate` returns NULL if there is none. `drop` is called once, when nobody needs `user` any
 * more; not necessarily the process' end. */
struct memtrace_memory_source {
  uint32_t size;
  void* user;
  void* (*allocate)(void* user, uint64_t bytes, uint64_t stream);
  void (*deallocate)(void* user, void* address, uint64_t bytes, uint64_t stream);
  void (*drop)(void* user);
};
/* MEMTRACE_INVALID_ARGUMENT if the pool has memory already. */
MEMTRACE_API int memtrace_set_pool_source(int device, const struct memtrace_pool* pool,
                                          const struct memtrace_memory_source* source);

/* Requests of which `takes` says so, asked in their thread with their stream under the card's lock,
 * come from the pool until memtrace_end_routing. `drop` as above. */
struct memtrace_stream_filter {
  uint32_t size;
  void* user;
  int (*takes)(void* user, uint64_t stream);
  void (*drop)(void* user);
};
MEMTRACE_API int memtrace_begin_routing(int device, const struct memtrace_pool* pool,
                                        const struct memtrace_stream_filter* filter);
MEMTRACE_API int memtrace_end_routing(int device, const struct memtrace_pool* pool);

/* Whether what other streams of a capture have used (memtrace_record_stream) may be used again
 * within it, as soon as its graph says that those uses come before. 0 at first: after it. */
MEMTRACE_API int memtrace_set_capture_reuse(int device, int reuse);

/* Which blocks of a pool are in use now; to be given to memtrace_drop_checkpoint. NULL on failure.
 */
struct memtrace_checkpoint;
MEMTRACE_API int memtrace_checkpoint_pool(int device, const struct memtrace_pool* pool,
                                          struct memtrace_checkpoint** checkpoint);
/* Frees every block of the pool and takes those of the checkpoint again; afterwards `visit` is
 * called for each, freed ones first, no lock held. On MEMTRACE_INVALID_ARGUMENT, because the pool
 * no longer has their memory, nothing has happened. */
MEMTRACE_API int memtrace_restore_pool(int device, const struct memtrace_checkpoint* checkpoint,
                                       void (*visit)(void* user, void* address, int is_allocated),
                                       void* user);
MEMTRACE_API void memtrace_drop_checkpoint(struct memtrace_checkpoint* checkpoint);

/* ---- memory for other processes and cards (mode ALLOCATE)
 * -------------------------------------------------------------------------- */

/* What another process of the same user on this machine needs to map a block: plain bytes, to be
 * sent as they are. Equal bytes are the same memory. */
struct memtrace_shared_block {
  uint32_t size;
  int32_t device;
  uint64_t address;     /* where the block begins */
  uint64_t base, bytes; /* of the chunks under it */
  uint64_t serial;
  char owner[64];
};
/* Of the block in use that contains `address`. MEMTRACE_UNSUPPORTED if its memory is a pool's own.
 * The block must stay in use until the other process has opened it. The first call starts a thread,
 * which answers those who open blocks. */
MEMTRACE_API int memtrace_share_block(const void* address, struct memtrace_shared_block* block);
/* Maps it for a card of this process: what was at `base` there is at *address here. */
MEMTRACE_API int memtrace_open_block(const struct memtrace_shared_block* block, int device,
                                     void** address);
/* Waits for the card, then unmaps. */
MEMTRACE_API int memtrace_close_block(void* address);

/* From now on card `peer` may read and write all of card `device`'s memory, if they can reach each
 * other. */
MEMTRACE_API int memtrace_admit_peer(int device, int peer);

/* ---- watching the allocator (mode ALLOCATE)
 * -------------------------------------------------------------------------- */

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
  uint64_t address, bytes, stream; /* bytes of a block: as asked for */
  struct memtrace_pool pool;
};
/* From now on `watch` hears of every change to the memory of all cards, in the order in which they
 * happen on a card; changes of two cards may come at once. Called under the card's lock: it must
 * not call back, and must not wait for Python's interpreter. It cannot be removed, because a thread
 * may be in it; MEMTRACE_INVALID_ARGUMENT if there is one already. */
MEMTRACE_API int memtrace_watch(void (*watch)(void* user, const struct memtrace_change*),
                                void* user);

/* ---- observing another allocator (mode OBSERVE)
 * --------------------------------------------------------------- */

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
  uint64_t address, bytes, stream; /* bytes as asked for */
  uint64_t context; /* of memtrace_capture_context, for ALLOCATE; 0 if there is none */
  /* ALLOCATE: what the block occupies at least; 0: `bytes` rounded up to 512. It also occupies what
   * would be left over of the free memory that it is cut from, if that is at most `unsplit` bytes.
   */
  uint64_t occupied, unsplit;
  int32_t is_segment; /* MAP: no block reaches beyond it; 0: it goes on where it meets another */
  uint64_t pool_first, pool_second; /* the pool that it is of; 0, 0: the default one */
};
/* In the order in which things happened on the card; may be called under the other allocator's
 * lock. */
MEMTRACE_API void memtrace_observe(const struct memtrace_observed* event);

/* Figures of the other allocator when it gave up; called outside its lock. `explanation` is filled
 * in. */
struct memtrace_observed_out_of_memory {
  uint32_t size;
  int32_t device;
  uint64_t requested, context;
  uint64_t device_free, device_total, limit;
  uint64_t reserved, active, allocated, inactive_split; /* bytes, torch's words */
};
MEMTRACE_API void memtrace_observe_out_of_memory(
    const struct memtrace_observed_out_of_memory* event);

#ifdef __cplusplus
}
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_H_ */
