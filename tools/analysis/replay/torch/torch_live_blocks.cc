// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_live_blocks.h"

#include <algorithm>

#include "base/check.h"

namespace memtrace::replay {

Placed TorchLiveBlocks::Use(TorchBlock& block, Bytes rounded) {
  heap_.Use(block, rounded);
  allocated_ += block.size;
  peak_allocated_ = std::max(peak_allocated_, allocated_);
  const BlockNumber number = NewNumber();
  live_[number] = {&block, false};
  const TorchSegment& segment = *block.segment;
  return {number, block.address, segment.ordinal, block.address - segment.base, block.size};
}

void TorchLiveBlocks::RequestFree(BlockNumber block) {
  Live& live = live_[block];
  MEMTRACE_CHECK(live.block != nullptr && !live.is_waiting);
  allocated_ -= live.block->size;
  live.is_waiting = true;
  waiting_.insert(block);
}

void TorchLiveBlocks::CompleteFree(BlockNumber block) {
  waiting_.erase(block);
  GiveBack(live_[block]);
  spare_numbers_.push_back(block);
}

void TorchLiveBlocks::FreeWaiting() {
  for (const BlockNumber number : waiting_) GiveBack(live_[number]);
  waiting_.clear();
}

BlockNumber TorchLiveBlocks::NewNumber() {
  if (spare_numbers_.empty()) {
    live_.emplace_back();
    return static_cast<BlockNumber>(live_.size() - 1);
  }
  const BlockNumber number = spare_numbers_.back();
  spare_numbers_.pop_back();
  return number;
}

void TorchLiveBlocks::GiveBack(Live& live) {
  if (live.block != nullptr) heap_.Free(*live.block);
  live = {};
}

}  // namespace memtrace::replay
