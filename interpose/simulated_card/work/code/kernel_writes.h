// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNEL_WRITES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNEL_WRITES_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/backing_file.h"
#include "interpose/simulated_card/memory/known_ranges.h"

namespace memtrace::card {

// Forgets the memory that a launched kernel may have written, because it did not run and its writes
// are not accounted for otherwise.
//
// - A kernel may write any byte of the blocks that it got a pointer into, because a pointer's reach
//   within its block is not known. A block is memory that an allocator handed out; memory without
//   a known allocator counts as one block a mapping.
// - Addresses within a small given block are followed once, for kernels that take a table of
//   pointers; this includes stale ones, so that a second launch with the same table finds them
//   again.
// - A kernel whose parameters are not known may have been given any block.
//
// Safe from any thread.
class KernelWrites {
 public:
  // All arguments must outlive this.
  KernelWrites(const AddressSpace& space, const BackingFile& file, KnownRanges& known)
      : space_(space), file_(file), known_(known) {}
  KernelWrites(const KernelWrites&) = delete;
  KernelWrites& operator=(const KernelWrites&) = delete;

  // An allocator hands the block out to the program; blocks that it overlaps are removed.
  void HandOut(Address begin, std::uint64_t bytes);

  // Values in `given` that are not addresses of device memory are ignored.
  void MayWriteThrough(std::span<const Address> given);
  void MayWriteAnything();

 private:
  struct Block {
    Address begin;
    std::uint64_t bytes = 0;
  };

  std::vector<Block> BlocksOf(std::span<const Address> given) const;
  std::vector<Address> AddressesIn(const Block& block) const;
  std::vector<Extent> ExtentsOf(const Block& block) const;

  const AddressSpace& space_;
  const BackingFile& file_;
  KnownRanges& known_;
  mutable Mutex mutex_;
  std::map<Address, std::uint64_t> blocks_ ABSL_GUARDED_BY(mutex_);  // bytes by begin
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNEL_WRITES_H_
