/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CARD_CONTROL_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CARD_CONTROL_H_

/* What the rest of memtrace asks of the simulated card, as a C interface.
 *
 * Our libcuda.so.1 exports these functions and a real one does not: find them with
 * dlsym(dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW), "memtrace_card_count"); null means that no
 * simulated card is loaded. Structs start with their size, set by the caller; members are only ever
 * appended, and a caller of an older size gets the members it knows. No function throws, none calls
 * back into CUDA, all may be called from any thread at any time, before cuInit and during exit too.
 * Devices are counted as CUDA counts them, after CUDA_VISIBLE_DEVICES. Sizes are bytes.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C names. As stat(2) does, a function and the struct
 * that it fills share a name. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

/* Results of the functions below that return int and are not counts. */
enum memtrace_card_result {
  MEMTRACE_CARD_OK = 0,
  MEMTRACE_CARD_NO_SUCH_DEVICE = 1,
  MEMTRACE_CARD_INVALID_ARGUMENT = 2 /* null, or size is not set */
};

/* total == context + other + runtime_allocated + vmm_allocated + free, always. */
struct memtrace_card_ledger {
  uint32_t size;              /* sizeof(struct memtrace_card_ledger), set by the caller */
  uint32_t context_active;    /* 1 once the process has a context on this card */
  uint64_t total;             /* what cudaMemGetInfo calls total */
  uint64_t context;           /* charged for the context; 0 before it exists */
  uint64_t other;             /* held by other processes, a setting of the card */
  uint64_t runtime_allocated; /* charged by cudaMalloc and kin, in whole granules of 2 MiB */
  uint64_t vmm_allocated;     /* created by cuMemCreate and not yet returned, mapped or not */
  uint64_t free;              /* what cudaMemGetInfo calls free */
  uint64_t peak;              /* the highest total - free so far */
};

/* What the process did on all cards together, since it started. Counts of calls, except
 * bytes_dropped. */
struct memtrace_card_activity {
  uint32_t size;
  uint32_t reserved;        /* 0 */
  uint64_t kernel_launches; /* none of them ran; library calls such as a GEMM count too */
  uint64_t copies_executed; /* copies and fills whose bytes really moved */
  uint64_t copies_dropped;  /* above MEMTRACE_CARD_COPY_LIMIT, or the host could not hold them */
  uint64_t bytes_dropped;   /* in those */
  uint64_t device_to_host_copies; /* the host read values that the simulation may not know */
  uint64_t unsupported_calls;     /* each failed with its library's "not supported" */
  uint64_t faults;                /* copies that touched unmapped, freed or inaccessible memory */
};

/* The number of cards; 0 without MEMTRACE_CARD. */
int memtrace_card_count(void);

/* Fills *ledger with one consistent instant of a card. */
int memtrace_card_ledger(int device, struct memtrace_card_ledger* ledger);

/* Fills *activity; the counters are read one after the other. */
int memtrace_card_activity(struct memtrace_card_activity* activity);

typedef void (*memtrace_card_visitor)(void* argument, const char* name, uint64_t count);

/* Calls visitor for each function that was called and is not supported, sorted by name. The name is
 * valid during the call. No lock is held: the visitor may call CUDA. */
void memtrace_card_visit_unsupported(memtrace_card_visitor visitor, void* argument);

/* The same for each kernel (mangled name) and library call that was launched, in no order. */
void memtrace_card_visit_kernels(memtrace_card_visitor visitor, void* argument);

/* MEMTRACE_CARD_OK if spec parses (the grammar of MEMTRACE_CARD, card_spec.h); otherwise
 * MEMTRACE_CARD_INVALID_ARGUMENT and one sentence in error, cut at error_size - 1 bytes and ended
 * with a zero. error may be null. */
int memtrace_card_check(const char* spec, char* error, size_t error_size);

#pragma GCC diagnostic pop
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* MEMTRACE_INTERPOSE_SIMULATED_CARD_CARD_CONTROL_H_ */
