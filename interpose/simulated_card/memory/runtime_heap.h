// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_RUNTIME_HEAP_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_RUNTIME_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// cudaMalloc's memory, which gets an address in the same step.
//
// A request of 2 MiB or more gets its own whole granules. Smaller ones share granules, cut at 512
// bytes, best fit; a granule goes back when its last block does (measured:
// tests/gpu/recordings/h200/driver_facts.json).
//
// Safe from any thread; lock order: machine.h.
class RuntimeHeap {
 public:
  // space must outlive this.
  explicit RuntimeHeap(AddressSpace& space, ChargeKind kind = ChargeKind::kRuntime)
      : space_(space), kind_(kind) {}
  RuntimeHeap(const RuntimeHeap&) = delete;
  RuntimeHeap& operator=(const RuntimeHeap&) = delete;

  // kOutOfMemory changes nothing. REQUIRES: bytes > 0. `owner`: a context's number, for FreeAllOf.
  Result Allocate(int device, std::uint64_t bytes, Address* begin, std::uint64_t owner = 0);
  // kInvalidValue unless a live block begins there.
  Result Free(Address begin);
  // Frees all blocks of an owner.
  void FreeAllOf(std::uint64_t owner);

  // Returns the bytes of whole granules in use.
  std::uint64_t HeldBytes() const;

  struct Block {
    Address begin;
    std::uint64_t bytes = 0;  // as requested
    std::uint64_t owner = 0;
  };
  // Returns the live block that holds address.
  std::optional<Block> Find(Address address) const;
  // Returns the number of blocks.
  std::size_t Live() const;

 private:
  struct Granule {
    int device = 0;
    std::map<Address, std::uint64_t> used;  // begin -> bytes, whole cuts
  };

  void FreeLocked(const Block& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result AllocateGranules(int device, std::uint64_t bytes, Address* begin)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeGranules(Address begin, std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result AllocateShared(int device, std::uint64_t bytes, Address* begin)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeShared(Address begin) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static Address BestFit(const std::pair<const Address, Granule>& granule, std::uint64_t bytes);

  AddressSpace& space_;
  const ChargeKind kind_;
  mutable Mutex mutex_;
  std::map<Address, Block> blocks_ ABSL_GUARDED_BY(mutex_);  // by begin
  std::map<Address, Granule> shared_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t held_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_RUNTIME_HEAP_H_
