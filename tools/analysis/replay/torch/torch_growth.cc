// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_growth.h"

#include <algorithm>

namespace memtrace::replay {
namespace {

using State = TorchBlock::State;

// The size of a reservation on a card whose size is not known: it never ends.
constexpr Bytes kEndlessReservation = Bytes{1} << 44;

}  // namespace

TorchBlock* TorchGrowth::Extend(TorchLane& lane, Bytes rounded) {
  const Bytes size = options_.settings.SegmentFor(rounded);
  if (heap_.reserved() + size > limit()) return nullptr;
  return options_.settings.expands ? ExtendReservation(lane, rounded) : ExtendBySegment(lane, size);
}

bool TorchGrowth::FindsMappedMemory(TorchLane& lane, Bytes rounded) {
  const TorchBlock* room = FindRoom(lane, rounded);
  return room != nullptr && room->state == State::kFree && room->size >= rounded;
}

TorchBlock* TorchGrowth::ExtendBySegment(TorchLane& lane, Bytes size) {
  if (heap_.reserved() + size > options_.capacity) {
    ++calls_.failed;
    return nullptr;
  }
  ++calls_.allocations;
  return heap_.AddSegment(lane, AddressRange::Of(addresses_.ForSegment(size, lane.stream), size));
}

TorchBlock* TorchGrowth::ExtendReservation(TorchLane& lane, Bytes rounded) {
  TorchBlock* block = FindRoom(lane, rounded);
  if (block == nullptr) {
    const Bytes chunk = options_.settings.ChunkFor(lane.pool->is_small);
    const Bytes size = ReservationSize(chunk);
    const DeviceAddress address = addresses_.ForReservation(size, lane.stream);
    block = heap_.AddReservation(lane, AddressRange::Of(address, size), chunk);
  }
  if (block->state == State::kUnmapped) {
    block = MapFront(*block, std::min(block->size, rounded));
  }
  while (block != nullptr && block->size < rounded) {
    block = MapFront(*block->behind, std::min(rounded - block->size, block->behind->size));
  }
  if (block != nullptr) heap_.lanes().TakeOut(*block);
  return block;
}

// Finds the lowest unmapped range that, with what is free before and behind it, is long enough.
TorchBlock* TorchGrowth::FindRoom(TorchLane& lane, Bytes rounded) {
  const auto is_available = [](const TorchBlock* block) {
    return block != nullptr && block->state != State::kInUse;
  };
  for (const auto& [key, unmapped] : lane.unmapped) {
    TorchBlock* first = is_available(unmapped->before) ? unmapped->before : unmapped;
    Bytes bytes = first->size;
    const TorchBlock* last = first;
    while (bytes < rounded && is_available(last->behind)) {
      last = last->behind;
      bytes += last->size;
    }
    if (bytes < rounded) continue;
    const bool is_endless = options_.card == 0 && last->behind == nullptr;
    if (!is_endless || addresses_.ContinuesAt(unmapped->address)) return first;
  }
  return nullptr;
}

TorchBlock* TorchGrowth::MapFront(TorchBlock& unmapped, Bytes bytes) {
  const Bytes chunk = unmapped.segment->chunk;
  const Bytes size = RoundUp(bytes, chunk);
  if (heap_.reserved() + size > options_.capacity) {
    ++calls_.failed;
    return nullptr;
  }
  calls_.creates += size / chunk;
  ++calls_.accesses;
  return heap_.Map(unmapped, AddressRange::Of(unmapped.address, size));
}

void TorchGrowth::AddAt(TorchLane& lane, const AddressRange& range) {
  if (options_.settings.expands) return MapAt(lane, range);
  if (heap_.segments().BlockAt(range.begin) != nullptr) return;
  heap_.lanes().Put(*heap_.AddSegment(lane, range));
}

void TorchGrowth::MapAt(TorchLane& lane, const AddressRange& range) {
  const Bytes chunk = options_.settings.ChunkFor(lane.pool->is_small);
  TorchBlock* there = heap_.segments().BlockAt(range.begin);
  if (there == nullptr || there->segment->lane != &lane) {
    if (there != nullptr && there->segment->base == range.begin) return;
    there =
        heap_.AddReservation(lane, AddressRange::Of(range.begin, ReservationSize(chunk)), chunk);
  }
  const Bytes before = range.begin - there->address;
  const bool fits = there->state == State::kUnmapped && before < there->size &&
                    range.size() <= there->size - before;
  if (fits) heap_.Map(*there, range);
}

// A reservation has 9/8 of the card's memory, in whole chunks, like torch's.
Bytes TorchGrowth::ReservationSize(Bytes chunk) const {
  if (options_.card == 0) return RoundUp(kEndlessReservation, chunk);
  return RoundUp(options_.card + options_.card / 8, chunk);
}

Bytes TorchGrowth::limit() const {
  if (options_.settings.fraction >= 1 || options_.card == 0) return kNoLimit;
  return static_cast<Bytes>(options_.settings.fraction * static_cast<double>(options_.card));
}

}  // namespace memtrace::replay
