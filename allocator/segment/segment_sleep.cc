// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/segment_sleep.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/status_macros.h"

namespace memtrace {

absl::Status SegmentSleep::PutAway() {
  is_asleep_ = true;
  int ranges = -reservation_.chunks().ranges();
  const Reservation::PutAwayRuns away = reservation_.PutAway();
  ranges += reservation_.chunks().ranges();
  for (const AddressRange& run : away.of_card)
    account_.Unmapped(key_, run.begin, run.size(), std::exchange(ranges, 0));
  if (away.on_host > 0) account_.UnmappedOnHost(key_, away.on_host, std::exchange(ranges, 0));
  return away.status;
}

absl::Status SegmentSleep::BringBack(Wanted wanted) {
  // The host's memory that the sleep could not unmap is replaced by the card's.
  if (reservation_.chunks().on_host() > 0) MEMTRACE_RETURN_IF_ERROR(PutAway());
  for (const AddressRange& range : MissingOf(wanted)) MEMTRACE_RETURN_IF_ERROR(MapBack(range));
  return absl::OkStatus();
}

absl::Status SegmentSleep::MapBack(const AddressRange& range) {
  const int ranges = reservation_.chunks().ranges();
  absl::Status status = reservation_.Map(range.begin, range.size(), largest_chunk_);
  if (absl::IsResourceExhausted(status)) status = reservation_.Map(range.begin, range.size(), 1);
  if (status.ok())
    account_.Mapped(key_, range.begin, range.size(), reservation_.chunks().ranges() - ranges);
  return status;
}

void SegmentSleep::WakeUp() {
  std::vector<std::pair<Block*, AddressRange>> empty;
  for (Block* block = blocks_.last(); block != nullptr; block = block->previous) {
    if (!block->is(Block::State::kFree)) continue;
    const AddressRange inner = InWholeGranules(block->range(), /*outwards=*/false);
    if (inner.begin >= inner.end) continue;
    const std::vector<AddressRange> missing = reservation_.chunks().MissingIn(inner);
    for (auto part = missing.rbegin(); part != missing.rend(); ++part)
      empty.emplace_back(block, *part);
  }
  // From the highest address down, so that a block keeps its record until its lowest part's turn.
  for (const auto& [block, part] : empty) blocks_.MakeHole(block, part);
  is_asleep_ = false;
}

Bytes SegmentSleep::Missing(Wanted wanted) const {
  Bytes sum = 0;
  for (const AddressRange& run : GranulesOf(wanted)) {
    for (const AddressRange& part : reservation_.chunks().MissingIn(run)) sum += part.size();
    for (const MappedChunk& chunk : reservation_.chunks().Under(run)) {
      if (!chunk.is_on_host) continue;
      const DeviceAddress begin = std::max(chunk.address, run.begin);
      sum += std::min(chunk.address + chunk.size, run.end) - begin;
    }
  }
  return sum;
}

std::vector<AddressRange> SegmentSleep::RangesOf(Wanted wanted) const {
  std::vector<AddressRange> ranges;
  for (const Block* block = blocks_.first(); block != nullptr; block = block->next) {
    const bool is_wanted = block->is(Block::State::kAllocated) ||
                           block->is(Block::State::kOnHost) ||
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

// Returns the granules that have wanted blocks, joined into runs.
std::vector<AddressRange> SegmentSleep::GranulesOf(Wanted wanted) const {
  std::vector<AddressRange> runs;
  for (const AddressRange& range : RangesOf(wanted)) {
    const AddressRange whole = InWholeGranules(range, /*outwards=*/true);
    if (runs.empty() || runs.back().end < whole.begin) {
      runs.push_back(whole);
    } else {
      runs.back().end = whole.end;
    }
  }
  return runs;
}

// Returns the parts of them that have no memory.
std::vector<AddressRange> SegmentSleep::MissingOf(Wanted wanted) const {
  std::vector<AddressRange> missing;
  for (const AddressRange& run : GranulesOf(wanted)) {
    const std::vector<AddressRange> parts = reservation_.chunks().MissingIn(run);
    missing.insert(missing.end(), parts.begin(), parts.end());
  }
  return missing;
}

AddressRange SegmentSleep::InWholeGranules(const AddressRange& range, bool outwards) const {
  const DeviceAddress start = reservation_.address();
  const Bytes begin = range.begin - start;
  const Bytes end = range.end - start;
  if (outwards)
    return {start + RoundDown(begin, reservation_.granularity()),
            start + RoundUp(end, reservation_.granularity())};
  return {start + RoundUp(begin, reservation_.granularity()),
          start + RoundDown(end, reservation_.granularity())};
}

}  // namespace memtrace
