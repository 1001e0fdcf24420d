// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/segment_turns.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/check.h"

namespace memtrace {

SegmentTurns::~SegmentTurns() {
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    if (block->is(Block::State::kBorrowed)) vmm_.Unmap(block->address, block->size).IgnoreError();
  }
}

std::vector<AddressRange> SegmentTurns::Available() const {
  std::vector<AddressRange> available;
  for (const Block* block : blocks_.free().FindAllFitting(reservation_.granularity())) {
    const AddressRange part = reservation_.chunks().Unmappable(block->range());
    if (part.size() > 0) available.push_back(part);
  }
  std::sort(available.begin(), available.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  return available;
}

Block* SegmentTurns::Lend(const AddressRange& chunk) {
  return blocks_.SetAside(FreeBlockAt(chunk.begin), chunk, Block::State::kLent);
}

absl::Status SegmentTurns::EndLending(Block* block) {
  const AddressRange range = block->range();
  const int ranges = reservation_.chunks().ranges();
  const Reservation::Unmapped done = reservation_.Unmap(range, range.size());
  if (!done.status.ok()) return done.status;
  Unmapped(range, ranges);
  blocks_.MakeHole(blocks_.TakeUp(block), range);
  return absl::OkStatus();
}

SegmentTurns::Exchanged SegmentTurns::Exchange(DeviceAddress begin,
                                               const std::vector<Piece>& pieces) {
  Exchanged exchanged{.borrowed = std::vector<Block*>(pieces.size()), .is_lost = false};
  const AddressRange own{begin, EndOfOwnChunks(pieces.back().place.end)};
  const int ranges = reservation_.chunks().ranges();
  const AddressRange gone = reservation_.Unmap(own, own.size()).range;
  if (gone.size() > 0) {
    Unmapped(gone, ranges);
    Fill(gone, pieces, exchanged);
  }
  for (const Piece& piece : pieces) {
    // A second time, because a handle that is not released keeps its memory.
    if (!vmm_.Release(piece.chunk).ok()) vmm_.Release(piece.chunk).IgnoreError();
  }
  return exchanged;
}

// Maps the pieces in `gone`, and memory of its own beside them. If the driver has refused to unmap
// the lower chunks, the pieces that lie there are left out.
void SegmentTurns::Fill(const AddressRange& gone, const std::vector<Piece>& pieces,
                        Exchanged& exchanged) {
  DeviceAddress filled = gone.begin;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const AddressRange& place = pieces[i].place;
    if (place.begin < gone.begin) continue;
    exchanged.borrowed[i] = Borrow(pieces[i], exchanged.is_lost);
    if (exchanged.borrowed[i] == nullptr) continue;
    if (filled < place.begin) exchanged.is_lost |= !MapOwn({filled, place.begin});
    filled = place.end;
  }
  if (filled < gone.end) exchanged.is_lost |= !MapOwn({filled, gone.end});
}

// Maps a piece. Returns null if the driver refuses. A mapping that can neither be used nor undone
// is kept like one that is borrowed.
Block* SegmentTurns::Borrow(const Piece& piece, bool& is_lost) {
  const auto [begin, size] = std::pair(piece.place.begin, piece.place.size());
  if (!vmm_.Map(begin, size, piece.chunk).ok()) return nullptr;
  if (!vmm_.GiveAccess(begin, size).ok()) {
    if (vmm_.Unmap(begin, size).ok()) return nullptr;
    is_lost = true;
  }
  borrowed_ += size;
  return blocks_.SetAside(FreeBlockAt(begin), piece.place, Block::State::kBorrowed);
}

// Maps memory of its own where it had some before. False if the driver refuses: then it is a hole.
bool SegmentTurns::MapOwn(const AddressRange& gap) {
  const int ranges = reservation_.chunks().ranges();
  for (const uint32_t chunk : {kLargestChunk, uint32_t{1}}) {
    if (!reservation_.Map(gap.begin, gap.size(), chunk).ok()) continue;
    account_.Mapped(key_, gap.begin, gap.size(), reservation_.chunks().ranges() - ranges);
    return true;
  }
  blocks_.MakeHole(FreeBlockAt(gap.begin), gap);
  return false;
}

absl::Status SegmentTurns::GiveBack(Block* block) {
  const AddressRange range = block->range();
  absl::Status status = vmm_.Unmap(range.begin, range.size());
  if (!status.ok()) return status;
  borrowed_ -= range.size();
  blocks_.MakeHole(blocks_.TakeUp(block), range);
  return status;
}

Block* SegmentTurns::Inherit(Block* block) {
  const AddressRange range = block->range();
  const int ranges = reservation_.chunks().ranges();
  borrowed_ -= range.size();
  reservation_.Adopt(range);
  account_.Mapped(key_, range.begin, range.size(), reservation_.chunks().ranges() - ranges);
  return blocks_.SetAside(blocks_.TakeUp(block), range, Block::State::kLent);
}

// Returns the end of the first chunk that ends at `least` or above.
DeviceAddress SegmentTurns::EndOfOwnChunks(DeviceAddress least) const {
  const std::vector<MappedChunk> last = reservation_.chunks().Under({least - 1, least});
  MEMTRACE_CHECK_EQ(last.size(), size_t{1});
  return last.front().address + last.front().size;
}

Block* SegmentTurns::FreeBlockAt(DeviceAddress address) const {
  Block* block = blocks_.last();
  while (block->address > address) block = block->previous;
  MEMTRACE_CHECK(block->is(Block::State::kFree));
  return block;
}

void SegmentTurns::Unmapped(const AddressRange& range, int ranges_before) {
  account_.Unmapped(key_, range.begin, range.size(),
                    reservation_.chunks().ranges() - ranges_before);
}

}  // namespace memtrace
