// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/pool_guess.h"

#include <algorithm>

namespace memtrace::replay {

namespace {

// True if the reservation there goes on at the address. A free block there may be about to be
// unmapped.
bool IsReservationContinued(const TorchBlock& there, DeviceAddress address, StreamId stream) {
  if (!there.segment->is_expandable() || there.segment->lane->stream != stream) return false;
  return there.state == TorchBlock::State::kFree || there.address == address;
}

}  // namespace

std::optional<uint32_t> PoolGuess::OfKnown(const trace::Allocate& block) {
  if (block.pool != 0) return block.pool;
  if (IsInNewSegment(block)) return std::nullopt;
  const TorchSegment* segment = torch_.policy().heap().segments().At(DeviceAddress{block.address});
  return segment == nullptr ? 0 : segment->lane->pool->number;
}

uint32_t PoolGuess::OfNew(const trace::Allocate& block, bool fitted) {
  Request request{block.requested, StreamId{block.stream}, 0};
  const bool fits = fitted && torch_.HasFree(request);  // nor was the cache emptied meanwhile
  if (!fits && !torch_.CanGrow(request)) return 0;
  uint32_t guessed = 0;
  do {
    request.pool = kFirst + guessed++;
  } while (guessed <= pools_ && (torch_.HasFree(request) || torch_.CanGrow(request)));
  pools_ = std::max(pools_, guessed);
  return request.pool;
}

// A segment that goes on where a reservation ends is not new.
bool PoolGuess::IsInNewSegment(const trace::Allocate& block) {
  for (const RecordedSegments::Recorded& recorded : torch_.segments().pending()) {
    const AddressRange& range = recorded.range;
    if (!range.Contains(DeviceAddress{block.address})) continue;
    const TorchBlock* there = torch_.policy().heap().segments().BlockAt(range.begin);
    return there == nullptr || !IsReservationContinued(*there, range.begin, recorded.stream);
  }
  return false;
}

}  // namespace memtrace::replay
