// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_segments.h"

#include <iterator>
#include <utility>

namespace memtrace::replay {

TorchSegment& TorchSegments::Add(TorchLane& lane, const AddressRange& range, Bytes chunk) {
  auto segment = std::make_unique<TorchSegment>();
  segment->base = range.begin;
  segment->size = range.size();
  segment->chunk = chunk;
  segment->ordinal = next_ordinal_++;
  segment->lane = &lane;
  if (segment->is_expandable()) ++reservations_;
  return *segments_.emplace(range.begin, std::move(segment)).first->second;
}

void TorchSegments::Remove(TorchSegment& segment) {
  if (segment.is_expandable()) ++reservations_given_up_;
  segments_.erase(segment.base);
}

TorchSegment* TorchSegments::At(DeviceAddress address) {
  const auto behind = segments_.upper_bound(address);
  if (behind == segments_.begin()) return nullptr;
  TorchSegment& segment = *std::prev(behind)->second;
  return address - segment.base < segment.size ? &segment : nullptr;
}

TorchBlock* TorchSegments::BlockAt(DeviceAddress address) {
  TorchSegment* segment = At(address);
  TorchBlock* block = segment == nullptr ? nullptr : segment->first;
  while (block != nullptr && block->end() <= address) block = block->behind;
  return block;
}

bool TorchSegments::IsMapped(DeviceAddress address) {
  const TorchBlock* block = BlockAt(address);
  return block != nullptr && block->state != TorchBlock::State::kUnmapped;
}

}  // namespace memtrace::replay
