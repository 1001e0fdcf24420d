/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C ABI of libmemtrace.so, called by the torch shim, the preload library and the Python
 * package.
 *
 * Structs begin with `size`, set by the caller to sizeof; they only grow at the end. Nothing throws
 * across this interface. Sizes are in bytes, times in nanoseconds; devices are CUDA ordinals, and a
 * stream is the value of its handle (0 = legacy default). An int result is a memtrace_status unless
 * its comment says otherwise; memtrace_last_error tells why a call failed. Thread rule: any
 * function from any thread, unless its comment says otherwise.
 *
 * Python's interpreter lock: the functions for Python alone (memtrace_python_enter_module ... of
 * memtrace_program.h) must hold it. memtrace_capture_context, memtrace_python_frames,
 * memtrace_outside_allocated of HOST memory, memtrace_collect and every function that finds the
 * card full (memtrace_set_before_out_of_memory) may take it: call none of them while holding a lock
 * that a Python thread may wait for.
 *
 * Callbacks run without a lock of ours, except for memtrace_watch's and the functions of a stream
 * filter and of a memory source: these run under the card's lock and must not call back.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_H_

#include <stddef.h>
#include <stdint.h>

#include "interpose/core/memtrace_base.h"
#include "interpose/core/memtrace_observe.h"
#include "interpose/core/memtrace_outside.h"
#include "interpose/core/memtrace_pools.h"
#include "interpose/core/memtrace_program.h"
#include "interpose/core/memtrace_room.h"
#include "interpose/core/memtrace_sharing.h"
#include "interpose/core/memtrace_sleep.h"
#include "interpose/core/memtrace_spill.h"

#ifdef __cplusplus
extern "C" {
#endif

enum memtrace_status {
  MEMTRACE_OK = 0,
  MEMTRACE_OUT_OF_MEMORY = 1,
  /* For example, the address is not a block in use, or the device does not exist. */
  MEMTRACE_INVALID_ARGUMENT = 2,
  MEMTRACE_NOT_STARTED = 3, /* memtrace_start has not been called */
  MEMTRACE_INTERNAL = 4,    /* the driver refused; memtrace_last_error says how */
  MEMTRACE_UNSUPPORTED = 5  /* not with this memory or this card */
};

/* Roles and phases: the numbers of profiler/trace/events/event.h. */

/* Returns the MEMTRACE_ABI_VERSION that the library was built with. */
MEMTRACE_API uint32_t memtrace_abi_version(void);

/* Returns this thread's last error, one sentence, never NULL. Valid until the thread's next call.
 */
MEMTRACE_API const char* memtrace_last_error(void);
/* Returns the driver's error number (CUresult) if the driver refused, else 0. */
MEMTRACE_API int memtrace_last_driver_result(void);

/* Sets a fact of the trace's header ("script", "torch" ...: profiler/trace/format.md). Must be
 * called before memtrace_start. */
MEMTRACE_API void memtrace_set_info(const char* key, const char* value);

enum memtrace_mode {
  MEMTRACE_MODE_ALLOCATE = 0, /* our allocator serves the process */
  MEMTRACE_MODE_OBSERVE = 1,  /* another allocator does; memtrace_observe tells its events */
  MEMTRACE_MODE_OUTSIDE = 2   /* there is no allocator yet: the trace covers what the program takes
                                 from the driver itself (memtrace_outside_allocated). One start in
                                 another mode may follow; from then on that counts as outside */
};

/* Call this when CUDA is about to be used with `device_count` cards. Opens the trace
 * (MEMTRACE_OUTPUT; if it cannot be written, one line on stderr says so and the program goes on)
 * and makes an allocator per card. A second call does nothing. */
MEMTRACE_API int memtrace_start(int device_count, int mode);

/* Ends the trace: the blocks alive now are the live set at its end. Allocation still works. */
MEMTRACE_API void memtrace_close(void);

/* Returns 0 if MEMTRACE_TRACE=0 turns the trace off: contexts need not be captured then. */
MEMTRACE_API int memtrace_is_recorded(void);

/* Returns the path of the trace being written; "" if there is none. Valid until the process ends.
 */
MEMTRACE_API const char* memtrace_trace_path(void);

/* The functions below, except the two that capture a context, are for mode ALLOCATE. */

/* Returns a number for the requester: Python frames of the calling thread, tags, module. Must be
 * called BEFORE any lock is held, because it takes the interpreter's lock; pass the result to
 * memtrace_allocate. 0 if nothing is known. */
MEMTRACE_API uint64_t memtrace_capture_context(void);

/* The same for a thread inside a call of the driver: native frames from `caller`, a return address,
 * outwards (NULL: none) instead of Python's. Takes only the loader's lock, for a module seen for
 * the first time. */
MEMTRACE_API uint64_t memtrace_capture_native_context(const void* caller);

struct memtrace_out_of_memory {
  uint32_t size;
  int32_t device;
  uint64_t requested;
  uint64_t allocated;   /* after rounding */
  uint64_t obtainable;  /* the largest request that could have been served */
  uint64_t limit;       /* the most bytes this process may reserve; all ones if unlimited */
  uint64_t device_free; /* driver's figures */
  uint64_t device_total;
  uint64_t live_allocated;
  uint64_t reserved;
  char explanation[1024]; /* verdict and the three largest owners, ready to print, several lines */
  int32_t is_rejected;    /* by memtrace_request.reject_above; without explanation */
};

/* Allocates `bytes` > 0. On MEMTRACE_OUT_OF_MEMORY it fills in `*out_of_memory` and writes an event
 * into the trace. */
MEMTRACE_API int memtrace_allocate(int device, uint64_t bytes, uint64_t stream, uint64_t context,
                                   void** address, struct memtrace_out_of_memory* out_of_memory);
/* A request with more options than memtrace_allocate has; an option that is 0 has no effect. */
struct memtrace_request {
  uint32_t size;
  int32_t device;
  uint64_t bytes;
  uint64_t at_least; /* the block occupies at least this many bytes */
  uint64_t stream, context;
  int32_t is_trial; /* nobody is told of an out-of-memory: the request will be repeated */
  /* If the card's memory would grow beyond this many bytes, the request fails at once, with
   * is_rejected, and nobody is told; 0: no such rule. */
  uint64_t reject_above;
  /* Address at which the block must begin, in mapped and free memory of the request's stream and
   * pool; MEMTRACE_INVALID_ARGUMENT if it is not such memory. 0: anywhere. */
  uint64_t at;
  int32_t is_not_free; /* memtrace_take_free has just returned null and is not tried again */
  /* Neither asks the driver for memory nor waits: MEMTRACE_OUT_OF_MEMORY, which is not reported,
   * if no free block of the stream is large enough, or if the stream follows a plan. */
  int32_t only_free;
};
MEMTRACE_API int memtrace_allocate_request(const struct memtrace_request* request, void** address,
                                           struct memtrace_out_of_memory* out_of_memory);
/* Reuses memory that is free on the stream, without calling the driver or waiting, which is nearly
 * always enough. Returns NULL, and nothing is allocated, if there is none or on any failure;
 * memtrace_allocate_request then tells why. */
MEMTRACE_API void* memtrace_take_free(int device, uint64_t bytes, uint64_t at_least,
                                      uint64_t stream, uint64_t context);
/* Frees a block. MEMTRACE_INVALID_ARGUMENT if no block in use starts at `address`. Does nothing in
 * a forked child. */
MEMTRACE_API int memtrace_deallocate(void* address);
/* Notes that `stream` uses the block: once freed, it is not reused before the work then queued on
 * the stream is done. MEMTRACE_INVALID_ARGUMENT as in memtrace_deallocate. */
MEMTRACE_API int memtrace_record_stream(void* address, uint64_t stream);
/* Gives the whole free chunks of all pools without users back to the driver, on every card, waiting
 * for the streams that used them. Tries every card; returns the first failure. */
MEMTRACE_API int memtrace_empty_cache(void);
/* Does the same for one private pool if it has no users; {0, 0}: for all of them. */
MEMTRACE_API int memtrace_empty_pool(const struct memtrace_pool* pool);
/* Caps what the process reserves on the card, in bytes. */
MEMTRACE_API int memtrace_set_limit(int device, uint64_t bytes);
/* Finds the block in use that contains `address`; `base` and `bytes` may be NULL.
 * MEMTRACE_INVALID_ARGUMENT if there is none, MEMTRACE_UNSUPPORTED within a call of a memory
 * source.
 */
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
/* The names and meanings are those of torch.cuda.memory_stats(); the second index is all, small
 * pool, large pool. */
struct memtrace_statistics {
  uint32_t size;
  uint32_t reserved;
  struct memtrace_statistic by_kind[MEMTRACE_STATISTIC_KINDS][3];
  int64_t num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free;
};
/* Fills in the statistics of a card. */
MEMTRACE_API int memtrace_get_statistics(int device, struct memtrace_statistics* statistics);
/* Calls `visit` for each private pool that ever existed with the bytes mapped for it: all, small,
 * large; no lock is held meanwhile. */
MEMTRACE_API int memtrace_visit_pools(int device,
                                      void (*visit)(void* user, const struct memtrace_pool*,
                                                    const struct memtrace_statistic reserved[3]),
                                      void* user);
/* Sets the peaks to the present values. */
MEMTRACE_API int memtrace_reset_peak_statistics(int device);
/* Sets the accumulated counts to 0. */
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
  int32_t expandable; /* 0: memory from a pool's own source, or a single block */
};
/* Calls `visit` for each contiguous mapped range of the card, by ascending address; no lock is held
 * meanwhile. */
MEMTRACE_API int memtrace_visit_segments(int device,
                                         void (*visit)(void* user, const struct memtrace_segment*),
                                         void* user);

#ifdef __cplusplus
}
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_H_ */
