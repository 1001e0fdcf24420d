/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MEMTRACE_INTERPOSE_BENCH_MEMTRACE_BENCH_H_
#define MEMTRACE_INTERPOSE_BENCH_MEMTRACE_BENCH_H_

/* The functions of an allocator that `memtrace bench --allocator ./libmine.so` compares with
 * others. An allocator written for torch.cuda.memory.CUDAPluggableAllocator has the first two
 * already, under names of its own: `--allocator ./libmine.so:MALLOC,FREE`.
 *
 * This header is plain C, includes nothing of CUDA, and need not be used: functions are found by
 * their names. Several threads call at the same time if --threads says so. The calling thread's
 * current device is 0. Functions must not throw.
 */

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* a cudaStream_t points to one */

/* Required. Returns memory of the card, `size` bytes, aligned to 256 bytes as cudaMalloc aligns,
 * that work in `stream` may use; null if there is none. `size` is never 0. */
void* my_malloc(ssize_t size, int device, struct CUstream_st* stream);

/* Required. Takes memory back that my_malloc returned, with the size and stream that it was
 * requested with. All work that uses it is done, or comes earlier in that stream. */
void my_free(void* pointer, ssize_t size, int device, struct CUstream_st* stream);

/* Optional. Called once before the first request; `devices` is 1. */
void memtrace_bench_init(int devices);

/* Optional. Called at the beginning of each step of the recorded program, counted from 1. */
void memtrace_bench_begin_step(uint64_t step);

/* Optional. Called after my_malloc returned null: gives cached memory back to the driver. The
 * request is then made once more, as torch does. */
void memtrace_bench_empty_cache(void);

#ifdef __cplusplus
}
#endif

#endif /* MEMTRACE_INTERPOSE_BENCH_MEMTRACE_BENCH_H_ */
