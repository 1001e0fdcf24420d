// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_LIVE_BLOCKS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_LIVE_BLOCKS_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/units.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/torch/torch_heap.h"

namespace memtrace::replay {

// The blocks of torch's own allocator that the program holds, by number, each from its allocation
// until the streams that used it are done with it. The number of a wholly freed block is used
// again.
//
// Thread rule: one thread at a time.
class TorchLiveBlocks {
 public:
  // `heap` outlives it.
  explicit TorchLiveBlocks(TorchHeap& heap) : heap_(heap) {}
  TorchLiveBlocks(const TorchLiveBlocks&) = delete;
  TorchLiveBlocks& operator=(const TorchLiveBlocks&) = delete;

  // Puts a block that was taken out of its list to use for a request of `rounded` bytes.
  Placed Use(TorchBlock& block, Bytes rounded);
  // REQUIRES: the block is in use, and no free of it was requested.
  void RequestFree(BlockNumber block);
  void CompleteFree(BlockNumber block);
  // Frees all blocks whose free was requested, as if their streams were done. The program may still
  // complete those frees later.
  void FreeWaiting();

  // Returns the peak of the bytes that blocks occupied, each counted until its free was requested.
  Bytes peak_allocated() const { return peak_allocated_; }

 private:
  struct Live {
    TorchBlock* block = nullptr;  // null: freed early, or not in use
    bool is_waiting = false;      // for the streams that used it
  };

  BlockNumber NewNumber();
  void GiveBack(Live& live);

  TorchHeap& heap_;
  std::vector<Live> live_;
  std::vector<BlockNumber> spare_numbers_;
  absl::flat_hash_set<BlockNumber> waiting_;
  Bytes allocated_ = 0;
  Bytes peak_allocated_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_LIVE_BLOCKS_H_
