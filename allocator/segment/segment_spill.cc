// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/segment_spill.h"

#include <algorithm>

#include "base/status_macros.h"

namespace memtrace {
namespace {

bool IsLeft(const Block& block) { return block.is(Block::State::kLeftOnHost); }

bool IsOfHost(const Block& block) { return block.is(Block::State::kOnHost) || IsLeft(block); }

// Removes the pieces that overlap none of the ranges. REQUIRES: the ranges ascend.
void KeepOverlapping(const std::vector<AddressRange>& ranges, std::vector<AddressRange>& pieces) {
  std::erase_if(pieces, [&](const AddressRange& piece) {
    const auto after = std::upper_bound(
        ranges.begin(), ranges.end(), piece.begin,
        [](DeviceAddress at, const AddressRange& range) { return at < range.end; });
    return after == ranges.end() || after->begin >= piece.end;
  });
}

}  // namespace

// Returns the maximal ranges of adjacent wanted blocks.
std::vector<AddressRange> SegmentSpill::RunsOf(
    const std::function<bool(const Block&)>& is_wanted) const {
  std::vector<AddressRange> runs;
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    if (!is_wanted(*block)) continue;
    const bool is_joined = !runs.empty() && runs.back().end == block->address;
    if (!is_joined) runs.push_back(block->range());
    runs.back().end = block->end();
  }
  return runs;
}

std::vector<AddressRange> SegmentSpill::PiecesOnCard(
    const std::function<bool(const Block&)>& may_move) const {
  const auto is_movable = [&](const Block& block) {
    const bool is_in_use = block.is(Block::State::kAllocated) || block.is(Block::State::kOnHost);
    return is_in_use && may_move(block);
  };
  const auto is_wanted = [&](const Block& block) { return IsOfHost(block) || is_movable(block); };
  std::vector<AddressRange> pieces;
  for (const AddressRange& run : RunsOf(is_wanted)) {
    const std::vector<AddressRange> more = reservation_.chunks().PiecesIn(run, Place::kCard);
    pieces.insert(pieces.end(), more.begin(), more.end());
  }
  KeepOverlapping(RunsOf(is_movable), pieces);
  return pieces;
}

std::vector<AddressRange> SegmentSpill::PiecesOnHost() const {
  if (on_host() == 0) return {};
  return reservation_.chunks().PiecesIn(reservation_.range(), Place::kHost);
}

absl::Status SegmentSpill::ToHost(const AddressRange& piece, ChunkExchange& exchange) {
  MEMTRACE_RETURN_IF_ERROR(reservation_.Exchange(piece, Place::kHost, exchange));
  account_.MappedOnHost(piece.size());
  return absl::OkStatus();
}

void SegmentSpill::CountLeft(const AddressRange& piece) {
  account_.Unmapped(key_, piece.begin, piece.size(), /*ranges=*/0);
}

absl::Status SegmentSpill::ToCard(const AddressRange& piece, ChunkExchange& exchange) {
  MEMTRACE_RETURN_IF_ERROR(reservation_.Exchange(piece, Place::kCard, exchange));
  account_.ReplacedOnHost(piece.size());
  account_.Mapped(key_, piece.begin, piece.size(), /*ranges=*/0);
  return absl::OkStatus();
}

void SegmentSpill::FallAsleep() {
  for (const AddressRange& run : RunsOf(IsLeft)) FreePart(run, /*is_unmapped=*/false);
  ForEachBlock(reservation_.range(), [](Block& block) {
    if (block.is(Block::State::kOnHost)) block.state = Block::State::kAllocated;
  });
}

Bytes SegmentSpill::FreeLeft() {
  Bytes sum = 0;
  for (const AddressRange& run : RunsOf(IsLeft)) {
    FreeCardParts(run);
    sum += UnmapLeft(run);
  }
  return sum;
}

void SegmentSpill::FreeCardParts(const AddressRange& run) {
  DeviceAddress at = run.begin;
  std::vector<AddressRange> parts;
  for (const MappedChunk& chunk : reservation_.chunks().Under(run)) {
    if (!chunk.is_on_host) continue;
    if (at < chunk.address) parts.push_back({at, chunk.address});
    at = chunk.address + chunk.size;
  }
  if (at < run.end) parts.push_back({at, run.end});
  for (const AddressRange& part : parts) FreePart(part, /*is_unmapped=*/false);
}

// A piece that the driver does not unmap stays as it is, and is tried again later.
Bytes SegmentSpill::UnmapLeft(const AddressRange& run) {
  Bytes sum = 0;
  for (const AddressRange& piece : reservation_.chunks().PiecesIn(run, Place::kHost)) {
    const int ranges = reservation_.chunks().ranges();
    const AddressRange unmapped = reservation_.Unmap(piece, piece.size()).range;
    if (unmapped.size() == 0) continue;
    FreePart(unmapped, /*is_unmapped=*/true);
    account_.UnmappedOnHost(key_, unmapped.size(), reservation_.chunks().ranges() - ranges);
    sum += unmapped.size();
  }
  return sum;
}

// Frees a part of a run of left blocks, which may lie in several of them.
void SegmentSpill::FreePart(const AddressRange& part, bool is_unmapped) {
  std::vector<AddressRange> in_blocks;
  ForEachBlock(part, [&](const Block& block) {
    in_blocks.push_back({std::max(block.address, part.begin), std::min(block.end(), part.end)});
  });
  for (const AddressRange& one : in_blocks) blocks_.FreeLeft(one, is_unmapped);
}

void SegmentSpill::ForEachBlock(const AddressRange& range,
                                const std::function<void(Block&)>& visit) {
  for (Block* block = blocks_.last(); block != nullptr && block->end() > range.begin;) {
    Block* below = block->previous;
    if (block->address < range.end) visit(*block);
    block = below;
  }
}

bool SegmentSpill::IsOnHost(DeviceAddress address) const {
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    if (block->range().Contains(address)) return IsOfHost(*block);
  }
  return false;
}

bool SegmentSpill::HasPartOnHost(const AddressRange& range) const {
  return reservation_.chunks().IsAnyOnHost(range);
}

Bytes SegmentSpill::on_card_beside() const {
  if (on_host() == 0 && !is_torn_) return 0;
  Bytes sum = 0;
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    if (IsOfHost(*block)) sum += block->size;
  }
  return sum - std::min(sum, on_host());  // a sleeping segment has none, but may have their memory
}

}  // namespace memtrace
