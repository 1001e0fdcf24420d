// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/mapped_segments.h"

#include <algorithm>
#include <iterator>

#include "profiler/trace/events/visit.h"
#include "tools/analysis/source/address_range.h"

namespace memtrace::analysis {

void MappedSegments::Apply(const trace::Event& event, const Ended& ended) {
  const Moment now{
      .sequence = event.sequence, .time_ns = event.time_ns, .ordinal = ++events_, .at = {}};
  trace::Visit([&](const auto& payload) { Apply(payload, now, ended); }, event.payload);
}

void MappedSegments::Apply(const trace::Reserve& reserve, const Moment& /*now*/,
                           const Ended& /*ended*/) {
  reserved_[{reserve.device, reserve.address}] = EndOf(reserve.address, reserve.size);
}

// Blocks say whose they are, mappings do not. Most programs have no private pool, and then nothing
// is looked up. A reserved range is of one pool, although its mappings come piece by piece.
void MappedSegments::NotePool(const trace::Allocate& allocation) {
  if (allocation.pool == 0 && !has_pools_) return;
  has_pools_ = true;
  if (const uint64_t range = ReservedAt(allocation.device, allocation.address); range != 0) {
    pools_[{allocation.device, range}] = allocation.pool;
  } else if (MappedSegment* segment = At(allocation.device, allocation.address)) {
    segment->pool = allocation.pool;
  }
}

MappedSegment* MappedSegments::At(int32_t device, uint64_t address) {
  const auto after = segments_.upper_bound({device, address});
  if (after == segments_.begin()) return nullptr;
  const auto at = std::prev(after);
  const bool is_inside = at->first.first == device && address - at->first.second < at->second.size;
  return is_inside ? &at->second : nullptr;
}

uint32_t MappedSegments::PoolOf(const MappedSegment& segment) const {
  if (!has_pools_ || !segment.expandable) return segment.pool;
  const auto pool = pools_.find({segment.device, ReservedAt(segment.device, segment.address)});
  return pool == pools_.end() ? segment.pool : pool->second;
}

uint64_t MappedSegments::ReservedAt(int32_t device, uint64_t address) const {
  const auto after = reserved_.upper_bound({device, address});
  if (after == reserved_.begin()) return 0;
  const auto& [place, end] = *std::prev(after);
  return place.first == device && address < end ? place.second + 1 : 0;
}

void MappedSegments::Apply(const trace::Map& map, const Moment& now, const Ended& ended) {
  // If memory lies there already, its unmapping was lost.
  Apply(trace::Unmap{.device = map.device, .address = map.address, .size = map.size}, now, ended);
  const uint64_t size = EndOf(map.address, map.size) - map.address;
  if (size == 0) return;  // also of one that begins at the last address
  segments_[{map.device, map.address}] = {
      .device = map.device,
      .address = map.address,
      .size = size,
      .stream = map.stream,
      .expandable = IsReserved(map.device, map.address),
      .page = size % kLargePage == 0 ? kLargePage : kGranule,
      .pool = 0,
      .mapped = now,
      .unmapped = std::nullopt,
  };
}

void MappedSegments::Apply(const trace::Unmap& unmap, const Moment& now, const Ended& ended) {
  const uint64_t end = EndOf(unmap.address, unmap.size);
  auto at = segments_.lower_bound({unmap.device, unmap.address});
  if (at != segments_.begin()) {
    const auto before = std::prev(at);
    if (before->first.first == unmap.device &&
        before->first.second + before->second.size > unmap.address)
      at = before;
  }
  while (at != segments_.end() && at->first.first == unmap.device && at->first.second < end) {
    const MappedSegment whole = at->second;
    const uint64_t whole_end = whole.address + whole.size;
    at = segments_.erase(at);
    MappedSegment gone = whole;
    gone.address = std::max(whole.address, unmap.address);
    gone.size = std::min(whole_end, end) - gone.address;
    gone.unmapped = now;
    ended(gone);
    MappedSegment left = whole;
    left.size = gone.address - whole.address;
    if (left.size != 0) segments_[{left.device, left.address}] = left;
    MappedSegment right = whole;
    right.address = gone.address + gone.size;
    right.size = whole_end - right.address;
    if (right.size != 0) segments_[{right.device, right.address}] = right;
  }
}

void MappedSegments::ForEach(bool joined,
                             const std::function<void(const MappedSegment&)>& visit) const {
  std::optional<MappedSegment> run;
  for (const auto& [place, segment] : segments_) {
    const bool goes_on =
        joined && run && run->device == segment.device &&
        run->address + run->size == segment.address && run->expandable &&
        run->stream == segment.stream &&
        ReservedAt(run->device, run->address) == ReservedAt(segment.device, segment.address);
    if (goes_on) {
      run->size += segment.size;
      run->page = std::min(run->page, segment.page);
      continue;
    }
    if (run) visit(*run);
    run = segment;
    run->pool = PoolOf(segment);
  }
  if (run) visit(*run);
}

}  // namespace memtrace::analysis
