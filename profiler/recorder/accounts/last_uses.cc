// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/last_uses.h"

#include <algorithm>
#include <utility>

namespace memtrace::recorder {
namespace {

// Returns the block that contains the address; null if none does. The blocks are in ascending
// order.
PlacedBlock* BlockThatContains(std::vector<PlacedBlock>& blocks, DeviceAddress address) {
  const auto after = std::upper_bound(
      blocks.begin(), blocks.end(), address,
      [](DeviceAddress wanted, const PlacedBlock& one) { return wanted < one.address; });
  if (after == blocks.begin()) return nullptr;
  PlacedBlock& block = *std::prev(after);
  return address < block.address + block.block.allocated ? &block : nullptr;
}

void SortByAddress(std::vector<PlacedBlock>& blocks) {
  std::sort(blocks.begin(), blocks.end(),
            [](const PlacedBlock& a, const PlacedBlock& b) { return a.address < b.address; });
}

}  // namespace

void LastUses::SetIn(std::vector<PlacedBlock>& blocks) const {
  SortByAddress(blocks);
  for (const auto& [address, last] : uses_) {
    PlacedBlock* block = BlockThatContains(blocks, address);
    if (block == nullptr || last.sequence < block->block.birth) continue;
    BlockUse& use = block->use;
    use.is_captured |= last.captured >= block->block.birth && last.captured > 0;
    if (last.sequence < use.sequence) continue;
    use.sequence = last.sequence;
    use.step = last.step;
  }
}

void LastUses::KeepOnly(std::vector<PlacedBlock> blocks) {
  SortByAddress(blocks);
  decltype(uses_) kept;
  for (const auto& [address, last] : uses_) {
    const PlacedBlock* block = BlockThatContains(blocks, address);
    if (block == nullptr || last.sequence < block->block.birth) continue;
    Last& of_block = kept[block->address];
    of_block.captured = std::max(of_block.captured, last.captured);
    if (last.sequence < of_block.sequence) continue;
    of_block.sequence = last.sequence;
    of_block.step = last.step;
  }
  uses_ = std::move(kept);
  most_ = std::max(kFewest, 2 * uses_.size());
}

}  // namespace memtrace::recorder
