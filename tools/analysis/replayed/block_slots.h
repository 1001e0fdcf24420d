// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_SLOTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_SLOTS_H_

#include <cstdint>
#include <vector>

namespace memtrace::analysis {

using BlockId = uint32_t;

// Holds what a pass keeps about blocks if that is too much for the table of BlockLives, which moves
// its entries as it grows and is up to half empty. The ids of removed blocks are reused.
//
// Thread rule: one thread at a time. Adding a block may move all others.
template <typename Block>
class BlockSlots {
 public:
  BlockId Add() {
    if (vacant_.empty()) {
      blocks_.emplace_back();
      return static_cast<BlockId>(blocks_.size() - 1);
    }
    const BlockId id = vacant_.back();
    vacant_.pop_back();
    blocks_[id] = Block();
    return id;
  }
  // The block stays as it is until its id is reused.
  void Remove(BlockId id) { vacant_.push_back(id); }

  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }

 private:
  std::vector<Block> blocks_;
  std::vector<BlockId> vacant_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_SLOTS_H_
