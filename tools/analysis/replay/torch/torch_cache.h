// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_CACHE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_CACHE_H_

#include <cstdint>

#include "base/units.h"
#include "tools/analysis/replay/torch/torch_heap.h"
#include "tools/analysis/replay/torch/torch_settings.h"

namespace memtrace::replay {

// The cache of torch's own allocator: free memory that can be given back to the driver. That is
// segments that are one free block and, in a reservation, the whole chunks within a free block.
//
// Thread rule: one thread at a time.
class TorchCache {
 public:
  // Both outlive it.
  TorchCache(const TorchSettings& settings, TorchHeap& heap) : settings_(settings), heap_(heap) {}
  TorchCache(const TorchCache&) = delete;
  TorchCache& operator=(const TorchCache&) = delete;

  // Gives back all of it. Private pools are kept, because a graph may be replayed.
  void Empty();
  // Gives back free blocks that max_split_size_mb keeps apart. Returns true if they add up to a
  // request of `rounded` bytes.
  bool ReleaseOversize(TorchLane& lane, Bytes rounded);
  // Gives back large segments that were not used for long, until no more than `threshold` is
  // reserved or all are young.
  void CollectGarbage(Bytes threshold);
  // Gives back just this range, if it is free: a part of a reservation, or a whole segment.
  void Release(const AddressRange& range);

  // Calls to the driver so far.
  uint64_t frees() const { return frees_; }
  uint64_t unmaps() const { return unmaps_; }

 private:
  void ReleaseLane(TorchLane& lane);
  void ReleaseSegment(TorchSegment& segment);
  void Unmap(TorchBlock& block, const AddressRange& range);

  const TorchSettings& settings_;
  TorchHeap& heap_;
  uint64_t frees_ = 0;
  uint64_t unmaps_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_CACHE_H_
