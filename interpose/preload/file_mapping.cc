// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints larger than the memory of this machine. torch and safetensors map them privately and
// writable, for which Linux wants memory for every byte; on a simulated card most of them are never
// read. The mapping is tried as it was asked for first, so that nothing changes where that
// succeeds.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "interpose/preload/settings.h"

namespace memtrace::preload {
namespace {

void* Map(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's answer is an address
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

bool IsPrivateFile(int flags, int file) { return (flags & MAP_PRIVATE) != 0 && file >= 0; }

void* MapFile(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  void* mapped = Map(address, bytes, protection, flags, file, offset);
  const bool is_refused = mapped == MAP_FAILED && errno == ENOMEM;
  if (!is_refused || !IsPrivateFile(flags, file) || !IsCardSimulated() || IsSwitchedOff())
    return mapped;
  return Map(address, bytes, protection, flags | MAP_NORESERVE, file, offset);
}

}  // namespace
}  // namespace memtrace::preload

#pragma GCC visibility push(default)
extern "C" {

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  return memtrace::preload::MapFile(address, bytes, protection, flags, file, offset);
}

void* mmap64(void* address, size_t bytes, int protection, int flags, int file, off64_t offset) {
  return memtrace::preload::MapFile(address, bytes, protection, flags, file, offset);
}

}  // extern "C"
#pragma GCC visibility pop
