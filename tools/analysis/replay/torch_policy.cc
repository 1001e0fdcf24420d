// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch_policy.h"

#include "base/check.h"

namespace memtrace::replay {
namespace {

constexpr Bytes kMostBytes = Bytes{1} << 50;  // no card is so large
constexpr Bytes kNoLimit = ~Bytes{0};
// Of a card that is not known: no reservation ends.
constexpr Bytes kEndlessReservation = Bytes{1} << 44;

}  // namespace

TorchPolicy::TorchPolicy(const Options& options, SegmentAddresses* addresses)
    : options_(options), heap_(options.settings, addresses == nullptr ? driver_ : *addresses) {}

std::optional<Placed> TorchPolicy::Allocate(const Request& request) {
  if (request.bytes > kMostBytes) return std::nullopt;
  const Bytes rounded = options_.settings.Rounded(request.bytes);
  TorchLane& lane = LaneOf(request);
  if (collects_garbage()) ++lane.pool->searches;
  TorchBlock* block = heap_.Find(lane, rounded);
  if (block != nullptr) {
    heap_.TakeOut(*block);
  } else {
    block = Grow(lane, rounded);
  }
  return Finish(block, rounded);
}

std::optional<Placed> TorchPolicy::AllocateByGrowth(const Request& request) {
  const Bytes rounded = options_.settings.Rounded(request.bytes);
  if (request.bytes > kMostBytes) return std::nullopt;
  return Finish(Extend(LaneOf(request), rounded), rounded);
}

bool TorchPolicy::HasFree(const Request& request) {
  return heap_.Find(LaneOf(request), options_.settings.Rounded(request.bytes)) != nullptr;
}

bool TorchPolicy::CanGrow(const Request& request) {
  return options_.settings.expands && !LaneOf(request).unmapped.empty();
}

bool TorchPolicy::GrowsIntoMapped(const Request& request) {
  const Bytes rounded = options_.settings.Rounded(request.bytes);
  const TorchBlock* room = FindRoom(LaneOf(request), rounded);
  return room != nullptr && room->state == TorchBlock::State::kFree && room->size >= rounded;
}

TorchLane& TorchPolicy::LaneOf(const Request& request) {
  const bool is_small = TorchSettings::IsSmall(options_.settings.Rounded(request.bytes));
  return heap_.Lane(request.pool, is_small, request.stream);
}

std::optional<Placed> TorchPolicy::Finish(TorchBlock* block, Bytes rounded) {
  if (block == nullptr) return std::nullopt;
  heap_.Use(*block, rounded);
  return Note(*block);
}

Placed TorchPolicy::Note(TorchBlock& block) {
  allocated_ += block.size;
  peak_allocated_ = std::max(peak_allocated_, allocated_);
  if (spare_numbers_.empty()) {
    spare_numbers_.push_back(static_cast<BlockNumber>(live_.size()));
    live_.emplace_back();
  }
  const BlockNumber number = spare_numbers_.back();
  spare_numbers_.pop_back();
  live_[number] = {&block, false};
  const TorchSegment& segment = *block.segment;
  return {number, block.address, segment.ordinal, block.address - segment.base, block.size};
}

void TorchPolicy::Free(BlockNumber block) {
  RequestFree(block);
  CompleteFree(block);
}

void TorchPolicy::RequestFree(BlockNumber block) {
  Live& live = live_[block];
  MEMTRACE_CHECK(live.block != nullptr && !live.is_waiting);
  allocated_ -= live.block->size;
  live.is_waiting = true;
  waiting_.insert(block);
}

void TorchPolicy::CompleteFree(BlockNumber block) {
  waiting_.erase(block);
  GiveBack(live_[block]);
  spare_numbers_.push_back(block);
}

void TorchPolicy::GiveBack(Live& live) {
  if (live.block != nullptr) heap_.Free(*live.block);
  live = {};
}

// The order is torch's: garbage, the driver, blocks that are large enough to be kept apart, then
// the whole cache.
TorchBlock* TorchPolicy::Grow(TorchLane& lane, Bytes rounded) {
  if (collects_garbage()) CollectGarbage();
  TorchBlock* block = Extend(lane, rounded);
  if (block == nullptr && ReleaseOversize(lane, rounded)) block = Extend(lane, rounded);
  if (block != nullptr) return block;
  ReleaseCached();
  return Extend(lane, rounded);
}

TorchBlock* TorchPolicy::Extend(TorchLane& lane, Bytes rounded) {
  const Bytes size = options_.settings.SegmentFor(rounded);
  if (heap_.reserved() + size > limit()) return nullptr;
  return options_.settings.expands ? ExtendReservation(lane, rounded) : ExtendBySegment(lane, size);
}

TorchBlock* TorchPolicy::ExtendBySegment(TorchLane& lane, Bytes size) {
  if (heap_.reserved() + size > options_.capacity) {
    ++calls_.failed;
    return nullptr;
  }
  ++calls_.allocations;
  TorchBlock* block =
      heap_.AddSegment(lane, {heap_.addresses().ForSegment(size, lane.stream), size});
  NoteReserved();
  return block;
}

TorchBlock* TorchPolicy::ExtendReservation(TorchLane& lane, Bytes rounded) {
  TorchBlock* block = FindRoom(lane, rounded);
  if (block == nullptr) {
    const Bytes chunk = options_.settings.ChunkFor(lane.pool->is_small);
    const Bytes size = ReservationSize(chunk);
    block = heap_.AddReservation(lane, {heap_.addresses().ForReservation(size, lane.stream), size},
                                 chunk);
  }
  if (block->state == TorchBlock::State::kUnmapped) {
    block = MapFront(*block, std::min(block->size, rounded));
  }
  // What was mapped stays when the next call fails, as torch leaves it.
  while (block != nullptr && block->size < rounded) {
    block = MapFront(*block->behind, std::min(rounded - block->size, block->behind->size));
  }
  if (block != nullptr) heap_.TakeOut(*block);
  return block;
}

// The lowest unmapped range that, with what is free before and behind it, is long enough.
TorchBlock* TorchPolicy::FindRoom(TorchLane& lane, Bytes rounded) {
  const auto is_available = [](const TorchBlock* block) {
    return block != nullptr && block->state != TorchBlock::State::kInUse;
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
    if (!is_endless || heap_.addresses().GoesOnAt(unmapped->address)) return first;
  }
  return nullptr;
}

TorchBlock* TorchPolicy::MapFront(TorchBlock& unmapped, Bytes bytes) {
  const Bytes chunk = unmapped.segment->chunk;
  const Bytes size = RoundUp(bytes, chunk);
  if (heap_.reserved() + size > options_.capacity) {
    ++calls_.failed;
    return nullptr;
  }
  calls_.creates += size / chunk;
  ++calls_.accesses;
  TorchBlock* block = heap_.Map(unmapped, size);
  NoteReserved();
  return block;
}

// torch: 9/8 of the card's memory, in whole chunks.
Bytes TorchPolicy::ReservationSize(Bytes chunk) const {
  if (options_.card == 0) return RoundUp(kEndlessReservation, chunk);
  return RoundUp(options_.card + options_.card / 8, chunk);
}

Bytes TorchPolicy::limit() const {
  if (options_.settings.fraction >= 1 || options_.card == 0) return kNoLimit;
  return static_cast<Bytes>(options_.settings.fraction * static_cast<double>(options_.card));
}

bool TorchPolicy::collects_garbage() const {
  return options_.settings.gc_threshold > 0 && limit() != kNoLimit;
}

DriverCalls TorchPolicy::calls() const {
  if (!options_.settings.expands) {
    return {{"cudaMalloc", calls_.allocations + calls_.failed}, {"cudaFree", calls_.frees}};
  }
  return {{"cuMemAddressReserve", heap_.reservations()},
          {"cuMemAddressFree", heap_.reservations_given_up()},
          {"cuMemCreate", calls_.creates + calls_.failed},
          {"cuMemMap", calls_.creates},
          {"cuMemSetAccess", calls_.accesses},
          {"cuMemUnmap", calls_.unmaps},
          {"cuMemRelease", calls_.unmaps}};
}

}  // namespace memtrace::replay
