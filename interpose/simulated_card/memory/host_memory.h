// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// Pinned host memory, allocated by us or registered by its owner. It is real memory of the host and
// not charged to a card. Safe from any thread.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Returns page-aligned zeros, which cost host memory when touched. REQUIRES: bytes > 0. `owner`:
  // a context's number, for FreeAllOf.
  Result Allocate(std::size_t bytes, int device, void** begin, std::uint64_t owner = 0);
  Result Free(void* begin);
  // Frees all that an owner allocated; registered memory stays its owner's.
  void FreeAllOf(std::uint64_t owner);

  Result Register(void* begin, std::size_t bytes, int device);
  Result Unregister(void* begin);

  struct Range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    int device = 0;  // the current device when it was pinned
    bool ours = false;
    std::uint64_t owner = 0;
  };
  std::optional<Range> Find(const void* address) const;
  // Returns the number of ranges.
  std::size_t Live() const;

 private:
  std::optional<Range> FindLocked(std::uintptr_t address) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<std::uintptr_t, Range> ranges_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_MEMORY_H_
