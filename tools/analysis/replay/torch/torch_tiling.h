// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_TILING_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_TILING_H_

#include <deque>
#include <vector>

#include "base/units.h"
#include "tools/analysis/replay/torch/torch_block.h"
#include "tools/analysis/replay/torch/torch_lanes.h"

namespace memtrace::replay {

// The blocks that tile the segments of one card: they are cut in two, and merged with their
// neighbours. From the first to the last, the blocks of a segment lie side by side and fill it.
//
//     Cover:   |............|     CutAt 4:   |....|........|     Merge:   |............|
//
// A block stays at its place in memory until it is dropped; then it is used again. Thread rule: one
// thread at a time.
class TorchTiling {
 public:
  // `lanes` outlive the tiling.
  explicit TorchTiling(TorchLanes& lanes) : lanes_(lanes) {}
  TorchTiling(const TorchTiling&) = delete;
  TorchTiling& operator=(const TorchTiling&) = delete;

  // Makes one block of a new segment, of state kFree and in no list.
  void Cover(TorchSegment& segment);
  // Forgets the only block of a segment.
  void Uncover(TorchSegment& segment) { Drop(segment.first); }

  // Returns the block that begins `size` bytes further on: it has the same state and is in no list.
  TorchBlock* CutAt(TorchBlock& block, Bytes size);
  // Joins a block that is in no list with neighbours of the same state, which leave their lists.
  // Returns the block that has all of it, which is in no list.
  TorchBlock* Merge(TorchBlock* block);

 private:
  TorchBlock* NewBlock(const TorchBlock& like);
  void Drop(TorchBlock* block) { spare_blocks_.push_back(block); }
  void Join(TorchBlock& block, TorchBlock* behind);

  TorchLanes& lanes_;
  std::deque<TorchBlock> blocks_;
  std::vector<TorchBlock*> spare_blocks_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_TILING_H_
