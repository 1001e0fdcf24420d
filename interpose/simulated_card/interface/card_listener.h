// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_LISTENER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_LISTENER_H_

// The interface by which our libcuda reports calls, and the work that they cause on the cards, to a
// profiler's library (our libcupti). Plain structs, because they cross a library border, but
// private, as in library_calls.h.

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): C names.

// A call that the program makes; calls made within it (cudaMalloc calls cuMemAlloc) are not
// reported.
struct memtrace_card_call {
  const char* name;           // as exported ("cuMemAlloc_v2"); also a library's ("cublasGemmEx")
  std::uint32_t correlation;  // from 1, one a call
  int result;                 // once it has returned
};

enum memtrace_card_event_kind {
  MEMTRACE_CARD_NO_EVENT = 0,
  MEMTRACE_CARD_KERNEL,          // entered a stream: name, grid, block, shared_bytes
  MEMTRACE_CARD_COPY,            // bytes, from, to, from_device, to_device, is_async
  MEMTRACE_CARD_FILL,            // bytes, value, to, is_async
  MEMTRACE_CARD_STREAM_WAITED,   // the host has waited: for a stream,
  MEMTRACE_CARD_DEVICE_WAITED,   // for all of a device,
  MEMTRACE_CARD_EVENT_WAITED,    // for an event: object
  MEMTRACE_CARD_STREAM_WAITS,    // a stream waits for an event: object
  MEMTRACE_CARD_EVENT_RECORDED,  // object
  MEMTRACE_CARD_ALLOCATED,       // address, bytes, to, is_async, object (a pool or null)
  MEMTRACE_CARD_RELEASED,        // the same
  MEMTRACE_CARD_CONTEXT_MADE,    // object
  MEMTRACE_CARD_CONTEXT_ENDS,    // object, which still works
  MEMTRACE_CARD_STREAM_MADE,     // object: its handle; flags, priority
  MEMTRACE_CARD_STREAM_ENDS      // object
};

// The kind of memory, by the numbers of CUpti_ActivityMemoryKind.
enum memtrace_card_memory_kind {
  MEMTRACE_CARD_PAGEABLE = 1,
  MEMTRACE_CARD_PINNED = 2,
  MEMTRACE_CARD_DEVICE = 3,
  MEMTRACE_CARD_MANAGED = 5
};

struct memtrace_card_launch {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;  // dynamic
};

struct memtrace_card_event {
  memtrace_card_event_kind kind;
  int device;
  std::uint32_t context;      // from cuCtxGetId: the current one's, if it is of that device
  std::uint64_t stream;       // from cuStreamGetId
  std::uint32_t correlation;  // of the thread's current call; 0: none
  const char* name;           // of a kernel or a library's call; lives as long as the process
  memtrace_card_launch launch;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t value;
  int from, to;  // of memtrace_card_memory_kind
  int from_device, to_device;
  bool is_async;
  unsigned flags;
  int priority;
  const void* object;
};

struct memtrace_card_context {
  int device;
  std::uint32_t number;  // from cuCtxGetId
};

// Called in the thread that makes the call, with no lock of the card held. They must not throw.
struct memtrace_card_listener {
  void (*enters)(const memtrace_card_call* call);
  void (*leaves)(const memtrace_card_call* call);
  void (*happens)(const memtrace_card_event* event);
};

// The time that any piece of work takes in the card's virtual time: about that of a small kernel;
// assumed.
inline constexpr std::int64_t kMemtraceCardWorkNanoseconds = 10'000;

// The launch of a kernel whose shape is not known.
inline constexpr memtrace_card_launch kMemtraceCardOneThread = {
    .grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 0};

#pragma GCC visibility push(default)
extern "C" {

// Returns false for a context that is not ours or was destroyed.
bool memtrace_card_find_context(const void* context, memtrace_card_context* found);

// Sets the only listener, which must live as long as the process; null removes it. Returns false
// without a card. Calls in progress may still be reported to the previous one.
bool memtrace_card_listen(const memtrace_card_listener* listener);

}  // extern "C"
#pragma GCC visibility pop

// NOLINTEND(readability-identifier-naming)

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_LISTENER_H_
