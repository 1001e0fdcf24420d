// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_NATIVE_SIZES_H_
#define MEMTRACE_INTERPOSE_TORCH_NATIVE_SIZES_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>
#include <set>

#include "versioned_entries.h"

namespace memtrace::shim {

// Computes the bytes that a block of torch's own allocator occupies, which its events do not tell,
// by the rules of its documentation (PYTORCH_CUDA_ALLOC_CONF), with the current settings. For one
// card.
//
// A private pool that must not be split (torch.cuda.MemPool(no_split=True)) is recognized by its
// first segment, which is not split; with expandable segments, which torch's statistics do not
// count there, it is not recognized.
//
// Thread rule: called under that card's lock of torch's allocator.
class NativeSizes {
 public:
  using Entry = TraceEntry;

  // The sizes are those of memtrace_observed.
  struct Size {
    uint64_t occupied = 0;
    uint64_t unsplit = 0;
  };
  Size Of(const Entry& allocation);

  // Tells of every other event.
  void Note(const Entry& entry);

 private:
  void InferPoolSplitting(const Entry& allocation, uint64_t occupied);

  std::set<MempoolId_t> unsplit_pools_;
  uint64_t new_segment_ = 0;  // bytes of a private pool's, if that was the last event
  int64_t splits_before_ = 0;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_NATIVE_SIZES_H_
