// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_NATIVE_SIZES_H_
#define MEMTRACE_INTERPOSE_TORCH_NATIVE_SIZES_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>
#include <set>

#include "versioned_entries.h"

namespace memtrace::shim {

// What a block of torch's own allocator occupies, which its events do not say: by the rules of its
// documentation (PYTORCH_CUDA_ALLOC_CONF), with the settings of the moment. Of one card.
//
// A private pool that is not to be split (torch.cuda.MemPool(no_split=True)) is known by its first
// segment, of which nothing is split off; with expandable segments, which torch's statistics do not
// count there, it is not known.
//
// Thread rule: under that card's lock of torch's allocator.
class NativeSizes {
 public:
  using Entry = TraceEntry;

  // Sizes as in memtrace_observed.
  struct Size {
    uint64_t occupied = 0;
    uint64_t unsplit = 0;
  };
  Size Of(const Entry& allocation);

  // Every other event.
  void Note(const Entry& entry);

 private:
  void LearnWhetherItSplits(const Entry& allocation, uint64_t occupied);

  std::set<MempoolId_t> unsplit_pools_;
  uint64_t new_segment_ = 0;  // bytes of a private pool's, if that was the event before
  int64_t splits_before_ = 0;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_NATIVE_SIZES_H_
