// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/expandable_segment.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/status_macros.h"

// Invariant: the reservation has a chunk for a granule if and only if it lies in a block that is
// neither a hole nor borrowed, unless the segment is asleep; holes begin and end between granules.
namespace memtrace {

absl::StatusOr<std::unique_ptr<ExpandableSegment>> ExpandableSegment::Reserve(
    const SegmentKey& key, const SegmentShape& shape, Vmm& vmm, BlockArena& arena,
    MappingAccount& account) {
  MEMTRACE_ASSIGN_OR_RETURN(const DeviceAddress address, vmm.Reserve(shape.size));
  account.Reserved(key, address, shape.size);
  return std::unique_ptr<ExpandableSegment>(
      new ExpandableSegment(key, address, shape, vmm, arena, account));
}

ExpandableSegment::ExpandableSegment(const SegmentKey& key, DeviceAddress address,
                                     const SegmentShape& shape, Vmm& vmm, BlockArena& arena,
                                     MappingAccount& account)
    : key_(key),
      shape_(shape),
      account_(account),
      reservation_(AddressRange::Of(address, shape.size), shape.granule, vmm),
      blocks_(this, address, shape, arena),
      sleep_(std::make_unique<SegmentSleep>(key_, shape_.movable_chunk, account_, reservation_,
                                            blocks_)),
      spill_(std::make_unique<SegmentSpill>(key_, account_, reservation_, blocks_)),
      turns_(std::make_unique<SegmentTurns>(key_, account_, reservation_, blocks_, vmm)) {}

absl::Status ExpandableSegment::Grow(const Growth& growth) {
  const int ranges = reservation_.chunks().ranges();
  absl::Status status = reservation_.Map(growth.address, growth.size, growth.chunk);
  if (!status.ok()) return status;
  blocks_.Fill(growth.hole, AddressRange::Of(growth.address, growth.size));
  account_.Mapped(key_, growth.address, growth.size, reservation_.chunks().ranges() - ranges);
  return status;
}

absl::StatusOr<Bytes> ExpandableSegment::Trim(Bytes wanted) {
  reservation_.UndoRest().IgnoreError();
  Bytes sum = 0;
  for (Block* range : FreeFromTheTop()) {
    if (sum >= wanted) break;
    MEMTRACE_RETURN_IF_ERROR(Unmap(range, range->range(), wanted - sum, sum));
  }
  return sum;
}

std::vector<Block*> ExpandableSegment::StartLeaving(Bytes wanted) {
  std::vector<Block*> leaving;
  Bytes sum = 0;
  for (Block* range : FreeFromTheTop()) {
    if (sum >= wanted) break;
    const AddressRange part = reservation_.chunks().Unmappable(range->range(), wanted - sum);
    if (part.size() == 0) continue;
    leaving.push_back(blocks_.SetAside(range, part, Block::State::kLeaving));
    sum += part.size();
  }
  return leaving;
}

Bytes ExpandableSegment::Leave(Block* block) {
  const AddressRange part = block->range();
  Bytes sum = 0;
  Unmap(blocks_.TakeUp(block), part, part.size(), sum).IgnoreError();
  return sum;
}

// Returns the free ranges that may contain a chunk, from the highest address down. If the driver
// has refused to take the memory of a sleeping segment away, a part of it may be the host's, which
// no request of the card can use: then there are none until the sleep or the wake is tried again.
std::vector<Block*> ExpandableSegment::FreeFromTheTop() const {
  if (sleep_->is_asleep() && reservation_.chunks().on_host() > 0) return {};
  std::vector<Block*> ranges = blocks_.free().FindAllFitting(shape_.granule);
  std::sort(ranges.begin(), ranges.end(),
            [](const Block* a, const Block* b) { return a->address > b->address; });
  return ranges;
}

// Unmaps chunks in `part` of a free range, as Reservation::Unmap. Adds what it unmaps to `sum`.
absl::Status ExpandableSegment::Unmap(Block* range, const AddressRange& part, Bytes wanted,
                                      Bytes& sum) {
  const int ranges = reservation_.chunks().ranges();
  const Reservation::Unmapped unmapped = reservation_.Unmap(part, wanted);
  if (const Bytes size = unmapped.range.size(); size > 0) {
    sum += size;
    blocks_.MakeHole(range, unmapped.range);
    account_.Unmapped(key_, unmapped.range.begin, size, reservation_.chunks().ranges() - ranges);
  }
  return unmapped.status;
}

Bytes ExpandableSegment::trimmable() const {
  Bytes sum = 0;
  for (const Block* block : FreeFromTheTop())
    sum += reservation_.chunks().Unmappable(block->range()).size();
  return sum;
}

void ExpandableSegment::CheckInvariants() const {
  blocks_.CheckInvariants();
  MEMTRACE_CHECK_EQ(blocks_.first()->segment, this);
  if (sleep_->is_asleep()) return;
  DeviceAddress end = reservation_.address();
  Bytes mapped = 0;
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    if (block->is(Block::State::kUnmapped)) {
      MEMTRACE_CHECK_EQ((block->address - reservation_.address()) % shape_.granule, Bytes{0});
      MEMTRACE_CHECK_EQ(block->size % shape_.granule, Bytes{0});
      MEMTRACE_CHECK_EQ(reservation_.chunks().Unmappable(block->range()).size(), Bytes{0});
    } else if (!block->is(Block::State::kBorrowed)) {
      mapped += block->size;
    }
    end = block->end();
  }
  MEMTRACE_CHECK_EQ(blocks_.first()->address, reservation_.address());
  MEMTRACE_CHECK_EQ(end, reservation_.range().end);
  MEMTRACE_CHECK_EQ(mapped, reservation_.mapped());
}

}  // namespace memtrace
