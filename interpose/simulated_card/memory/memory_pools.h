// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_MEMORY_POOLS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_MEMORY_POOLS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/runtime_heap.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// The answers of cuMemPoolGetAttribute, in bytes.
struct PoolFigures {
  std::uint64_t reserved = 0;  // charged to the card
  std::uint64_t reserved_high = 0;
  std::uint64_t used = 0;  // requested and not freed
  std::uint64_t used_high = 0;
};

// One pool of stream-ordered memory. Guarded by the lock of MemoryPools.
//
// It charges the card in steps of 32 MiB, as an H200 does (driver_facts.json of
// tests/gpu/recordings/h200), when memory in use (whole granules of 2 MiB, as in cudaMalloc)
// exceeds its reserve, and gives back what exceeds the threshold when the host synchronizes, as
// cuda.h says of CU_MEMPOOL_ATTR_RELEASE_THRESHOLD. Freed memory is reused at once, by any stream:
// the default of CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES lets a driver add the order
// itself.
struct MemoryPool {
  MemoryPool(AddressSpace& space, int card) : device(card), heap(space, ChargeKind::kContext) {}

  const int device;
  RuntimeHeap heap;  // addresses and contents; the pool itself charges
  std::map<Address, std::uint64_t> blocks;
  PoolFigures figures;
  std::uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // the CU_MEMPOOL_ATTR_REUSE_*, kept and not needed
};

// The pools of all cards. A handle is the address of its pool; kInvalidValue for one that is not
// alive. Safe from any thread.
class MemoryPools {
 public:
  // Both arguments must outlive this.
  MemoryPools(AddressSpace& space, Cards& cards);
  MemoryPools(const MemoryPools&) = delete;
  MemoryPools& operator=(const MemoryPools&) = delete;

  // REQUIRES: device exists.
  MemoryPool* Default(int device);
  MemoryPool* Current(int device);
  Result SetCurrent(int device, const void* pool);
  MemoryPool* Create(int device);
  // kInvalidValue for a default pool or one with live blocks.
  Result Destroy(const void* pool);

  // kOutOfMemory changes nothing.
  Result Allocate(const void* pool, std::uint64_t bytes, Address* begin);
  struct Block {
    const MemoryPool* pool = nullptr;
    std::uint64_t bytes = 0;
    int device = 0;
  };
  // kInvalidValue if no pool has a block that begins there. *freed, if not null, gets the former
  // block.
  Result Free(Address begin, Block* freed = nullptr);
  // Gives back memory that is not in use, but keeps at least `keep` bytes reserved.
  Result Trim(const void* pool, std::uint64_t keep);
  // Trims every pool to its threshold, because the host has synchronized.
  void TrimToThresholds();

  Result Figures(const void* pool, PoolFigures* figures) const;
  Result ResetHighMarks(const void* pool, bool reserved, bool used);
  // Reads or writes the threshold and the reuse flags with `change`.
  template <typename Change>
  Result Configure(const void* pool, Change change) {
    const MutexLock lock(mutex_);
    MemoryPool* found = Find(pool);
    if (found == nullptr) return Result::kInvalidValue;
    change(*found);
    return Result::kSuccess;
  }

 private:
  MemoryPool* Find(const void* pool) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result AllocateLocked(MemoryPool& pool, std::uint64_t bytes, Address* begin);
  void TrimLocked(MemoryPool& pool, std::uint64_t keep);

  AddressSpace& space_;
  Cards& cards_;
  mutable Mutex mutex_;
  std::map<const void*, std::unique_ptr<MemoryPool>> pools_ ABSL_GUARDED_BY(mutex_);
  std::vector<MemoryPool*> defaults_;  // one for each device; fixed once made
  std::vector<MemoryPool*> current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_MEMORY_POOLS_H_
