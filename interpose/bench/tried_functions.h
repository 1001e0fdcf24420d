// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_TRIED_FUNCTIONS_H_
#define MEMTRACE_INTERPOSE_BENCH_TRIED_FUNCTIONS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace memtrace::bench {

// The functions of the allocator that is tried (memtrace_bench.h).
struct TriedFunctions {
  void* (*allocate)(ssize_t bytes, int device, void* stream) = nullptr;
  void (*release)(void* address, ssize_t bytes, int device, void* stream) = nullptr;
  // Optional; null if the allocator does not have them.
  void (*init)(int devices) = nullptr;
  void (*begin_step)(uint64_t step) = nullptr;
  void (*empty_cache)() = nullptr;
};

// Opens a library and finds its functions. Returns false with the reason: the linker's, or the name
// of the function that is missing.
struct OpenFailure {
  bool is_missing_function = false;  // false: the library cannot be opened
  std::string detail;
};
bool OpenTriedLibrary(const char* path, const char* allocate, const char* release,
                      TriedFunctions* functions, OpenFailure* failure);

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_TRIED_FUNCTIONS_H_
