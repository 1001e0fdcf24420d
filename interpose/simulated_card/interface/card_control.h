/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_CONTROL_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_CONTROL_H_

/* The C interface by which the rest of memtrace uses the simulated card.
 *
 * Our libcuda.so.1 exports these functions and a real one does not: find them with
 * dlsym(dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW), "memtrace_card_count"); null means that no
 * simulated card is loaded. Structs start with their size, set by the caller; members are only ever
 * appended, and a caller of an older size gets the members it knows. No function throws or calls
 * back into CUDA; all may be called from any thread at any time, also before cuInit and during
 * exit. Devices are counted as CUDA counts them, after CUDA_VISIBLE_DEVICES. Sizes are in bytes.
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
  MEMTRACE_CARD_NO_SUCH_DEVICE = 1,   /* or no card at all */
  MEMTRACE_CARD_INVALID_ARGUMENT = 2, /* null, or size is not set */
  MEMTRACE_CARD_DOES_NOT_FIT = 3      /* more is charged than would be left */
};

/* total == context + other + runtime_allocated + vmm_allocated + free, always. */
struct memtrace_card_ledger {
  uint32_t size;              /* sizeof(struct memtrace_card_ledger), set by the caller */
  uint32_t context_active;    /* 1 once the process has a context on this card */
  uint64_t total;             /* the total of cudaMemGetInfo */
  uint64_t context;           /* charged for the context; 0 before it exists */
  uint64_t other;             /* held by other processes: the card's setting, and the bytes that
                                 processes of the same launch hold (MEMTRACE_CARD_SHARED) */
  uint64_t runtime_allocated; /* charged by cudaMalloc and kin, in whole granules of 2 MiB */
  uint64_t vmm_allocated;     /* created by cuMemCreate and not yet returned, mapped or not */
  uint64_t free;              /* the free memory of cudaMemGetInfo */
  uint64_t peak;              /* the highest total - free so far */
};

/* The process's activity on all cards together, since it started. Members are counts of calls
 * unless their comments say otherwise. */
struct memtrace_card_activity {
  uint32_t size;
  uint32_t reserved;        /* 0 */
  uint64_t kernel_launches; /* none of them ran; library calls such as a GEMM also count */
  uint64_t copies_executed; /* copies and fills whose bytes really moved */
  uint64_t copies_dropped;  /* above MEMTRACE_CARD_COPY_LIMIT, or the host could not hold them */
  uint64_t bytes_dropped;   /* the bytes of those copies */
  uint64_t device_to_host_copies; /* the host read values that the simulation may not know */
  uint64_t unsupported_calls;     /* each failed with its library's "not supported" */
  uint64_t faults;                /* see memtrace_card_visit_faults */
  uint64_t host_copy_bytes;       /* bytes copied between the host and a card, dropped or not */
  uint64_t product_operations;    /* floating-point operations: 2 m n k for each matrix product
                                     requested of cuBLAS; kernels (attention) are not counted */
  uint64_t sent_bytes;         /* bytes that ranks of the process sent by NCCL to ranks of the same
                                  machine, by the rule of docs/design/collectives.md */
  uint64_t sent_bytes_network; /* the same, to ranks of other machines */
  uint64_t sends;              /* point-to-point sends to other ranks by NCCL */
  /* Memory of the host at addresses of cards (cuMemCreate with a host location), now and at most,
     and the bytes of copies and fills that passed the bus between host and cards. What kernels
     read and write there is not known, except for products (below). */
  uint64_t host_located_bytes;
  uint64_t host_located_peak;
  uint64_t bus_bytes;
  /* An estimate of what matrix products moved over the bus: the bytes of their operands in the
     host's memory, each operand once a product. A GPU reads tiles again. */
  uint64_t product_bus_bytes;
};

/* When work is done, and how the host learned of it. */
enum memtrace_card_event_mode {
  MEMTRACE_CARD_EAGER = 0, /* all work is reported as done at once: least memory is held for it */
  MEMTRACE_CARD_LAZY = 1,  /* work is done when the host waits for it: most memory is held for it */
  MEMTRACE_CARD_DELAYED = 2 /* or when the host has asked often enough for an event (a stream) */
};
struct memtrace_card_events {
  uint32_t size;
  uint32_t mode;      /* a value of enum memtrace_card_event_mode */
  uint64_t questions; /* DELAYED: how many are answered "not ready" */
  uint64_t waits;     /* by the host, for work that was not done */
  uint64_t not_ready; /* questions answered "not ready": 0 means that an eager run is the same */
  uint64_t early;     /* EAGER: questions that LAZY would have answered "not ready": 0 means that a
                         lazy run is the same */
  uint64_t patience;  /* LAZY: questions asked 1,001 times without work in between, which counted as
                         waiting */
};

/* Counts of what the process made and has not given back yet. */
struct memtrace_card_live {
  uint32_t size;
  uint32_t reserved;
  uint64_t allocations;  /* of cudaMalloc and kin */
  uint64_t handles;      /* of cuMemCreate, referenced or mapped; without those of cudaMalloc */
  uint64_t mappings;     /* of those handles */
  uint64_t reservations; /* of addresses; without those of cudaMalloc */
  uint64_t pinned;       /* ranges of host memory, allocated or registered */
  uint64_t streams;
  uint64_t events;
};

/* Returns the number of cards; 0 without MEMTRACE_CARD. */
int memtrace_card_count(void);

/* Fills *ledger with a card's figures at one instant. */
int memtrace_card_ledger(int device, struct memtrace_card_ledger* ledger);

/* Fills *activity; the counters are read one after the other. */
int memtrace_card_activity(struct memtrace_card_activity* activity);

/* Calls visitor for each other process of the launch that holds memory of a card (its bytes are
 * part of `other` in the ledger; the rest of that is the card's setting). */
typedef void (*memtrace_card_process_visitor)(void* argument, uint32_t process, uint64_t bytes);
int memtrace_card_visit_processes(int device, memtrace_card_process_visitor visitor,
                                  void* argument);

typedef void (*memtrace_card_visitor)(void* argument, const char* name, uint64_t count);

/* Calls visitor for each function that was called and is not supported, sorted by name. The name is
 * valid during the call. No lock is held: the visitor may call CUDA. */
void memtrace_card_visit_unsupported(memtrace_card_visitor visitor, void* argument);

/* The same for each kernel (mangled name) and library call that was launched, in no order. */
void memtrace_card_visit_kernels(memtrace_card_visitor visitor, void* argument);

/* Fills *events. */
int memtrace_card_get_events(struct memtrace_card_events* events);

/* Sets the mode from now on. `questions` is for MEMTRACE_CARD_DELAYED. */
int memtrace_card_set_events(int mode, uint64_t questions);

/* Fills *live; the counters are read one after the other. At exit, MEMTRACE_CARD_LEAKS=1 prints it
 * on stderr. */
int memtrace_card_get_live(struct memtrace_card_live* live);

/* Sets a card's size, or all bytes that other processes hold of it.
 * MEMTRACE_CARD_DOES_NOT_FIT: nothing is changed. */
int memtrace_card_resize(int device, uint64_t total);
int memtrace_card_set_other(int device, uint64_t bytes);

/* Plans failures of calls, by the grammar of MEMTRACE_CARD_FAILURES (planned_failures.h), and drops
 * the previous plan; calls are counted from now on. Null or "": none.
 * MEMTRACE_CARD_INVALID_ARGUMENT: nothing is changed, error as in memtrace_card_check. */
int memtrace_card_plan_failures(const char* plan, char* error, size_t error_size);

/* Logs the calls of the driver and the runtime that the program makes: 1 empties the log and starts
 * it, 0 stops it. */
int memtrace_card_log_calls(int on);

/* Calls visitor for each entry of the log, "cuMemCreate(2097152) = 0", in the order in which the
 * calls returned; count is its number from 1. */
void memtrace_card_visit_calls(memtrace_card_visitor visitor, void* argument);

/* Tells that all work now in the stream uses that memory, which the card cannot know of kernels.
 * `what` names the use and must live as long as the process. Does nothing if the mode is EAGER. */
int memtrace_card_note_use(uint64_t address, uint64_t bytes, void* stream, int device,
                           const char* what);

/* Calls visitor for the first 100 faults, a sentence each; count is its number from 1. Faults are
 * copies that touch unmapped, freed or inaccessible memory, launches of kernels and products that
 * were given memory which is unmapped, and, unless the mode is EAGER, memory that is unmapped,
 * released or mapped elsewhere while work that uses it is not done. */
void memtrace_card_visit_faults(memtrace_card_visitor visitor, void* argument);

/* Calls namer for a launch that was given unmapped memory, on the launching thread, so that the
 * fault names the owner: it writes the owner's name, at most room - 1 bytes and a zero, and returns
 * 1 if memory at the address sleeps, else 0. No lock is held: the namer may call CUDA. Replaces the
 * previous namer; null removes it. */
typedef int (*memtrace_card_owner_namer)(uint64_t address, char* name, uint64_t room);
void memtrace_card_set_owner_namer(memtrace_card_owner_namer namer);

/* The memory of a card that communicators of NCCL hold in this process: what the card charged, and
 * between which bounds it may be, because the rule has assumed parts (docs/design/nccl-memory.md).
 */
struct memtrace_card_nccl {
  uint32_t size;
  uint32_t communicators; /* of several ranks */
  uint64_t charged;
  uint64_t least;
  uint64_t most;
  uint64_t host; /* pinned memory of the host, the most ever; it is not allocated */
};

/* Fills *nccl for the moment at which NCCL held most of the card. */
int memtrace_card_get_nccl(int device, struct memtrace_card_nccl* nccl);

/* Calls observer for each workspace whose size the card computed by an assumed rule, when a library
 * (cuDNN, cuSOLVER) gets it, on the thread of that call and before it returns. No lock is held: the
 * observer may call CUDA. Replaces the previous observer; null removes it. */
typedef void (*memtrace_card_workspace_observer)(int device, uint64_t address, uint64_t bytes,
                                                 const char* library);
void memtrace_card_set_workspace_observer(memtrace_card_workspace_observer observer);

/* Returns MEMTRACE_CARD_OK if spec parses (the grammar of MEMTRACE_CARD, card_spec.h), else
 * MEMTRACE_CARD_INVALID_ARGUMENT with one sentence in error, cut at error_size - 1 bytes and ended
 * with a zero. error may be null. */
int memtrace_card_check(const char* spec, char* error, size_t error_size);

/* Reads the cards from the environment again. A process that only loaded CUDA's libraries and asked
 * NVML can fork, and its child calls this to have other cards. Returns
 * MEMTRACE_CARD_INVALID_ARGUMENT and changes nothing if the process or its parent has asked CUDA.
 * Call it while the process has one thread. */
int memtrace_card_read_again(void);

#pragma GCC diagnostic pop
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_CONTROL_H_ */
