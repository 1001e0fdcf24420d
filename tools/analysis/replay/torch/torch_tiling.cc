// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_tiling.h"

namespace memtrace::replay {

void TorchTiling::Cover(TorchSegment& segment) {
  segment.first = NewBlock({.address = segment.base, .size = segment.size, .segment = &segment});
}

TorchBlock* TorchTiling::CutAt(TorchBlock& block, Bytes size) {
  TorchBlock* rest = NewBlock(block);
  rest->address += size;
  rest->size -= size;
  rest->before = &block;
  if (rest->behind != nullptr) rest->behind->before = rest;
  block.size = size;
  block.behind = rest;
  return rest;
}

TorchBlock* TorchTiling::Merge(TorchBlock* block) {
  TorchBlock* behind = block->behind;
  if (behind != nullptr && behind->state == block->state) {
    lanes_.TakeOut(*behind);
    Join(*block, behind);
  }
  TorchBlock* before = block->before;
  if (before == nullptr || before->state != block->state) return block;
  lanes_.TakeOut(*before);
  Join(*before, block);
  return before;
}

TorchBlock* TorchTiling::NewBlock(const TorchBlock& like) {
  if (spare_blocks_.empty()) return &blocks_.emplace_back(like);
  TorchBlock* block = spare_blocks_.back();
  spare_blocks_.pop_back();
  *block = like;
  return block;
}

void TorchTiling::Join(TorchBlock& block, TorchBlock* behind) {
  block.size += behind->size;
  block.behind = behind->behind;
  if (block.behind != nullptr) block.behind->before = &block;
  Drop(behind);
}

}  // namespace memtrace::replay
