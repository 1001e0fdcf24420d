// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_CORE_LIBRARY_H_
#define MEMTRACE_INTERPOSE_PRELOAD_CORE_LIBRARY_H_

#include "interpose/core/memtrace.h"

namespace memtrace::preload {

// The functions of libmemtrace.so that this library calls.
#define MEMTRACE_CORE_FUNCTIONS(F) \
  F(abi_version)                   \
  F(start)                         \
  F(allocate)                      \
  F(deallocate)                    \
  F(base_allocation)               \
  F(capture_native_context)        \
  F(outside_allocated)             \
  F(outside_freed)                 \
  F(outside_failed)                \
  F(make_room)                     \
  F(outside_mapped)                \
  F(outside_unmapped)              \
  F(outside_retained)              \
  F(outside_released)              \
  F(outside_reset)

struct Core {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name
#define MEMTRACE_CORE_MEMBER(name) decltype(&memtrace_##name) name = nullptr;
  MEMTRACE_CORE_FUNCTIONS(MEMTRACE_CORE_MEMBER)
#undef MEMTRACE_CORE_MEMBER
};

// Returns the process's only core, started with the driver's cards. It is the one that is loaded
// already, by any library, or else the one beside this library, which is loaded now. Returns null,
// with one line on stderr, if it cannot be loaded or started; also null from within its own
// loading.
const Core* StartedCore();
// The same without loading anything: null if it has not started yet.
const Core* CoreIfStarted();

// Prints one line on stderr with writev, which needs nothing of the process.
void Say(const char* sentence, const char* detail = "");

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_CORE_LIBRARY_H_
