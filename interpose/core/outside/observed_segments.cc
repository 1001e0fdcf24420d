// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/observed_segments.h"

#include <algorithm>
#include <iterator>

namespace memtrace {

Bytes ObservedSegments::Take(DeviceAddress address, Bytes usual, Bytes least, Bytes unsplit) {
  const Bytes free = unsplit == 0 ? 0 : Free(address);
  const Bytes occupied = free > least && free - least <= unsplit ? free : least;
  if (free != 0 || occupied != usual) blocks_[address] = occupied;
  return occupied;
}

Bytes ObservedSegments::Occupied(DeviceAddress address, Bytes usual) const {
  const auto block = blocks_.find(address);
  return block == blocks_.end() ? usual : block->second;
}

Bytes ObservedSegments::Free(DeviceAddress address) const {
  auto behind = segments_.upper_bound(address);
  if (behind == segments_.begin()) return 0;
  const auto& [begin, bytes] = *std::prev(behind);
  DeviceAddress end = begin + bytes;
  const auto next = blocks_.upper_bound(address);
  if (next != blocks_.end()) end = std::min(end, next->first);
  return end > address ? end - address : 0;
}

}  // namespace memtrace
