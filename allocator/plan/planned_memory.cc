// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/plan/planned_memory.h"

namespace memtrace {

std::optional<PlannedMemory::Missing> PlannedMemory::MissingAt(DeviceAddress address,
                                                               Bytes size) const {
  const Reservation& reservation = segment_->reservation();
  const SegmentBlocks& blocks = segment_->blocks();
  const Bytes offset = address - reservation.address();
  const DeviceAddress from = reservation.address() + RoundDown(offset, reservation.granularity());
  const DeviceAddress to =
      reservation.address() + RoundUp(offset + size, reservation.granularity());
  const Block* block = blocks.free().At(address);
  if (block == nullptr) block = blocks.holes().At(address);
  if (block == nullptr) return std::nullopt;
  Missing missing;
  for (; block != nullptr && block->address < address + size; block = block->next) {
    if (block->is(Block::State::kFree)) continue;
    if (!block->is(Block::State::kUnmapped)) return std::nullopt;
    const DeviceAddress begin = std::max(block->address, from);
    const Bytes bytes = std::min(block->end(), to) - begin;
    if (missing.bytes == 0) missing.first = {blocks.holes().At(block->address), begin, bytes};
    missing.bytes += bytes;
  }
  return missing;
}

}  // namespace memtrace
