// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_LIBRARY_CALLS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_LIBRARY_CALLS_H_

// Functions of our libcuda, beyond the driver's own, that our libcudart, libcublas and other
// libraries call. C names, because they cross a library border, but private: one build makes all of
// these libraries.

#include <cstddef>
#include <cstdint>

#include "interpose/simulated_card/interface/card_listener.h"

#pragma GCC visibility push(default)
extern "C" {

// A card as NVML sees it, counted without CUDA_VISIBLE_DEVICES. Reading it starts no driver.
struct memtrace_card_installed {
  std::uint64_t total;  // bytes
  std::uint64_t used;   // bytes; for a hidden card: by others
  std::uint64_t own;    // bytes that this process holds
  int has_context;      // this process has one there
  int compute_capability_major;
  int compute_capability_minor;
  char name[96];
  char uuid[64];
};
int memtrace_card_installed_count(void);
// Returns false if there is no such card.
bool memtrace_card_describe_installed(int card, memtrace_card_installed* described);

// How a card reaches the machine's others, for our NCCL.
struct memtrace_card_neighbours {
  int link;                // a memtrace::card::CardLink
  int nccl_channels;       // of a communicator of several such cards
  int compute_capability;  // 90 is 9.0
  bool states_bytes;       // the card's setting says what a communicator takes:
  std::uint64_t bytes;     // that
};
// Returns false if the process has no such device.
bool memtrace_card_describe_neighbours(int device, memtrace_card_neighbours* described);

// The bytes that our NCCL took of a card, and the bounds of its rule (card_control.h).
struct memtrace_card_nccl_bytes {
  std::int64_t charged;
  std::int64_t least;
  std::int64_t most;
  std::int64_t communicators;
  std::int64_t host;
};
// Adds to what it holds; negative figures were given back.
void memtrace_card_count_nccl(int device, const memtrace_card_nccl_bytes* more);

// The traffic from this process's ranks to others by NCCL (card_control.h).
struct memtrace_card_sent {
  std::uint64_t bytes;          // to ranks of the same machine
  std::uint64_t network_bytes;  // to ranks of other machines
  std::uint64_t sends;          // point-to-point sends
};
// Adds to it.
void memtrace_card_count_sent(const memtrace_card_sent* more);

// Another process of the launch that holds memory of the card. The function returns how many there
// are, and writes no more than there is room for; 0 for a hidden card.
struct memtrace_card_process {
  std::uint64_t bytes;
  std::uint32_t process;
};
std::size_t memtrace_card_other_processes(int card, memtrace_card_process* processes,
                                          std::size_t room);

// Adds one call of a function that is not supported.
void memtrace_card_count_unsupported(const char* name);

// Does the same, and prints it on stderr at the first call of that name: for libraries whose caller
// shows a user only the status.
void memtrace_card_refuse(const char* name);

// Objects whose contents never matter, except that each is made, is not null and is destroyed once.
// Returns false for a null address.
bool memtrace_card_create_object(void** object);
void memtrace_card_destroy_object(void* object);

// Registers a library's kernel; name must live until the first launch.
void memtrace_card_register_kernel(const void* host_function, const char* name);

// Registers a library's device variable, by its shadow in host memory.
void memtrace_card_register_variable(const void* shadow, std::size_t bytes);

// Gives the address of that variable on the current device. Returns a CUresult.
int memtrace_card_find_variable(const void* shadow, unsigned long long* begin, std::size_t* bytes);

// A kernel enters a stream of the current device. Returns a CUresult.
int memtrace_card_launch_kernel(const void* host_function, void* stream,
                                const memtrace_card_launch* shape);

// Does the same for a library call that stands for kernels, by its name.
int memtrace_card_launch_call(const char* name, void* stream);

// An operand of a matrix product, in bytes: `matrices` of `columns` columns. Those of one place
// (matrix_stride 0) are one matrix.
struct memtrace_card_operand {
  const void* begin;
  std::uint64_t column_bytes;
  std::uint64_t columns;
  std::uint64_t column_stride;
  std::uint64_t matrices;
  std::uint64_t matrix_stride;
};
// Returns 0 if nobody will ask for a product's operands: memtrace_card_launch_call then does.
int memtrace_card_operands_are_watched(void);
// Does the same as that for a product, all of whose operands are used.
int memtrace_card_launch_product(const char* name, void* stream,
                                 const memtrace_card_operand* operands, std::size_t count);

// A library gets a workspace on the current device whose size it had computed by an assumed rule.
// Tells the observer of memtrace_card_set_workspace_observer; does nothing if it is null or has no
// bytes.
void memtrace_card_use_workspace(const char* library, const void* workspace, std::uint64_t bytes);

// Counts the floating-point operations that such calls would have computed.
void memtrace_card_count_operations(std::uint64_t operations);

// Returns nonzero if a test watches calls; the next function is needed only then.
int memtrace_card_calls_are_watched(void);

// Returns body(argument) or, if the call is planned to fail, its error.
int memtrace_card_watch_call(const char* name, int (*body)(void*), void* argument);

}  // extern "C"
#pragma GCC visibility pop

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_LIBRARY_CALLS_H_
