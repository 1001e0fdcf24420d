// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/expandable_segment.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "allocator/blocks/size_policy.h"
#include "base/check.h"
#include "base/status_macros.h"

// Invariant: a granule is mapped if and only if it lies in a block that is not a hole, unless the
// segment is asleep; holes begin and end between granules.
namespace memtrace {

absl::StatusOr<std::unique_ptr<ExpandableSegment>> ExpandableSegment::Reserve(
    const SegmentKey& key, const SegmentShape& shape, Vmm& vmm, BlockArena& arena,
    MappingAccount& account) {
  const absl::StatusOr<DeviceAddress> address = vmm.Reserve(shape.size);
  if (!address.ok()) return address.status();
  account.Reserved(key, *address, shape.size);
  return std::unique_ptr<ExpandableSegment>(
      new ExpandableSegment(key, *address, shape, vmm, arena, account));
}

ExpandableSegment::ExpandableSegment(const SegmentKey& key, DeviceAddress address,
                                     const SegmentShape& shape, Vmm& vmm, BlockArena& arena,
                                     MappingAccount& account)
    : key_(key),
      shape_(shape),
      account_(account),
      reservation_(AddressRange::Of(address, shape.size), shape.granule, vmm),
      blocks_(this, address, shape, arena) {}

absl::Status ExpandableSegment::Grow(const Growth& growth) {
  const int ranges = reservation_.ranges();
  absl::Status status = reservation_.Map(growth.address, growth.size, growth.chunk);
  if (!status.ok()) return status;
  blocks_.Fill(growth.hole, AddressRange::Of(growth.address, growth.size));
  account_.Mapped(key_, growth.address, growth.size, reservation_.ranges() - ranges);
  return status;
}

absl::StatusOr<Bytes> ExpandableSegment::Trim(Bytes wanted) {
  UndoRest().IgnoreError();
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
    const AddressRange part = reservation_.Unmappable(range->range(), wanted - sum);
    if (part.size() == 0) continue;
    leaving.push_back(blocks_.StartLeaving(range, part));
    sum += part.size();
  }
  return leaving;
}

Bytes ExpandableSegment::Leave(Block* block) {
  const AddressRange part = block->range();
  Bytes sum = 0;
  Unmap(blocks_.StopLeaving(block), part, part.size(), sum).IgnoreError();
  return sum;
}

// Returns the free ranges that may contain a chunk, from the highest address down.
std::vector<Block*> ExpandableSegment::FreeFromTheTop() const {
  std::vector<Block*> ranges = blocks_.free().FindAllFitting(shape_.granule);
  std::sort(ranges.begin(), ranges.end(),
            [](const Block* a, const Block* b) { return a->address > b->address; });
  return ranges;
}

// Unmaps chunks in `part` of a free range, as Reservation::Unmap. Adds what it unmaps to `sum`.
absl::Status ExpandableSegment::Unmap(Block* range, const AddressRange& part, Bytes wanted,
                                      Bytes& sum) {
  const int ranges = reservation_.ranges();
  const Reservation::Unmapped unmapped = reservation_.Unmap(part, wanted);
  if (const Bytes size = unmapped.range.size(); size > 0) {
    sum += size;
    blocks_.MakeHole(range, unmapped.range);
    account_.Unmapped(key_, unmapped.range.begin, size, reservation_.ranges() - ranges);
  }
  return unmapped.status;
}

absl::Status ExpandableSegment::PutAway() {
  is_asleep_ = true;
  const Reservation::PutAwayRuns away = reservation_.PutAway();
  for (const AddressRange& run : away.runs)
    account_.Unmapped(key_, run.begin, run.size(), /*ranges=*/-1);
  return away.status;
}

absl::Status ExpandableSegment::BringBack(Wanted wanted) {
  for (const AddressRange& range : MissingOf(wanted)) MEMTRACE_RETURN_IF_ERROR(MapBack(range));
  return absl::OkStatus();
}

absl::Status ExpandableSegment::MapBack(const AddressRange& range) {
  const int ranges = reservation_.ranges();
  absl::Status status = reservation_.Map(range.begin, range.size(), kLargestMovableChunk);
  if (absl::IsResourceExhausted(status)) status = reservation_.Map(range.begin, range.size(), 1);
  if (status.ok())
    account_.Mapped(key_, range.begin, range.size(), reservation_.ranges() - ranges);
  return status;
}

void ExpandableSegment::WakeUp() {
  std::vector<std::pair<Block*, AddressRange>> empty;
  for (Block* block = blocks_.last(); block != nullptr; block = block->previous) {
    if (!block->is(Block::State::kFree)) continue;
    const AddressRange inner = InWholeGranules(block->range(), /*outwards=*/false);
    if (inner.begin >= inner.end) continue;
    const std::vector<AddressRange> missing = reservation_.MissingIn(inner);
    for (auto part = missing.rbegin(); part != missing.rend(); ++part)
      empty.emplace_back(block, *part);
  }
  // From the highest address down, so that a block keeps its record until its lowest part's turn.
  for (const auto& [block, part] : empty) blocks_.MakeHole(block, part);
  is_asleep_ = false;
}

Bytes ExpandableSegment::Missing(Wanted wanted) const {
  Bytes sum = 0;
  for (const AddressRange& range : MissingOf(wanted)) sum += range.size();
  return sum;
}

std::vector<AddressRange> ExpandableSegment::RangesOf(Wanted wanted) const {
  std::vector<AddressRange> ranges;
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    const bool is_wanted = block->is(Block::State::kAllocated) ||
                           (wanted == Wanted::kAll && block->is(Block::State::kFree));
    if (!is_wanted) continue;
    if (ranges.empty() || ranges.back().end != block->address) {
      ranges.push_back(block->range());
    } else {
      ranges.back().end = block->end();
    }
  }
  return ranges;
}

// Returns the parts without memory of the granules that have wanted blocks.
std::vector<AddressRange> ExpandableSegment::MissingOf(Wanted wanted) const {
  std::vector<AddressRange> runs;
  for (const AddressRange& range : RangesOf(wanted)) {
    const AddressRange whole = InWholeGranules(range, /*outwards=*/true);
    if (runs.empty() || runs.back().end < whole.begin) {
      runs.push_back(whole);
    } else {
      runs.back().end = whole.end;
    }
  }
  std::vector<AddressRange> missing;
  for (const AddressRange& run : runs) {
    const std::vector<AddressRange> parts = reservation_.MissingIn(run);
    missing.insert(missing.end(), parts.begin(), parts.end());
  }
  return missing;
}

AddressRange ExpandableSegment::InWholeGranules(const AddressRange& range, bool outwards) const {
  const DeviceAddress start = reservation_.address();
  const Bytes begin = range.begin - start;
  const Bytes end = range.end - start;
  if (outwards)
    return {start + RoundDown(begin, shape_.granule), start + RoundUp(end, shape_.granule)};
  return {start + RoundUp(begin, shape_.granule), start + RoundDown(end, shape_.granule)};
}

Bytes ExpandableSegment::trimmable() const {
  Bytes sum = 0;
  for (const Block* block : blocks_.free().FindAllFitting(shape_.granule)) {
    sum += reservation_.Unmappable(block->range()).size();
  }
  return sum;
}

void ExpandableSegment::CheckInvariants() const {
  blocks_.CheckInvariants();
  MEMTRACE_CHECK_EQ(blocks_.first()->segment, this);
  if (is_asleep_) return;
  DeviceAddress end = reservation_.address();
  Bytes mapped = 0;
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    if (block->is(Block::State::kUnmapped)) {
      MEMTRACE_CHECK_EQ((block->address - reservation_.address()) % shape_.granule, Bytes{0});
      MEMTRACE_CHECK_EQ(block->size % shape_.granule, Bytes{0});
      MEMTRACE_CHECK_EQ(reservation_.Unmappable(block->range()).size(), Bytes{0});
    } else {
      mapped += block->size;
    }
    end = block->end();
  }
  MEMTRACE_CHECK_EQ(blocks_.first()->address, reservation_.address());
  MEMTRACE_CHECK_EQ(end, reservation_.range().end);
  MEMTRACE_CHECK_EQ(mapped, reservation_.mapped());
}

}  // namespace memtrace
