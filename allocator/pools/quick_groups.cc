// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/quick_groups.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/fibonacci_hash.h"

namespace memtrace {

DeviceAddress QuickGroups::TryAllocate(StreamId stream, Bytes size, Bytes requested,
                                       ContextId context) {
  if (!is_open_.load(std::memory_order_acquire)) return {};
  SegmentGroup* group = Of(stream, IsSmall(size));
  if (group == nullptr) return {};
  const SpinMutexLock lock(group->lane().mutex);
  if (!group->lane().share.HasRoomFor(IsSmall(size), AmountsOf(size, requested))) return {};
  PlannedMemory* planned = group->planned();
  Block* block = planned == nullptr ? group->Take(size) : planned->TakeDue(size);
  return block == nullptr ? DeviceAddress() : group->HandOut(block, requested, context);
}

bool QuickGroups::TryFree(DeviceAddress address) {
  SegmentGroup* group = At(address);
  if (group == nullptr) return false;
  const SpinMutexLock lock(group->lane().mutex);
  Block* block = group->blocks().Find(address);
  if (block == nullptr || !block->recorded_streams.empty()) return false;
  group->Free(block);
  return true;
}

bool QuickGroups::TryRecordStream(DeviceAddress address, StreamId stream) {
  SegmentGroup* group = At(address);
  if (group == nullptr) return false;
  const SpinMutexLock lock(group->lane().mutex);
  Block* block = group->blocks().Find(address);
  if (block != nullptr) block->RecordStream(stream, group->key().stream);
  return block != nullptr;
}

size_t QuickGroups::PlaceOf(StreamId stream, bool small) {
  return FibonacciHash<8>(static_cast<uint64_t>(stream) * 2 + (small ? 1 : 0));
}

SegmentGroup* QuickGroups::Of(StreamId stream, bool small) const {
  for (size_t place = PlaceOf(stream, small);; place = (place + 1) % kPlaces) {
    SegmentGroup* group = by_key_[place].load(std::memory_order_acquire);
    if (group == nullptr) return nullptr;
    if (group->key().stream == stream && group->key().small == small) return group;
  }
}

bool QuickGroups::Has(const Lane& lane) const {
  return std::find(lanes_.begin(), lanes_.end(), &lane) != lanes_.end();
}

void QuickGroups::AddLane(Lane& lane) {
  if (lanes_.size() == kMostLanes) return;
  lane.mutex.Lock();
  lanes_.push_back(&lane);
}

void QuickGroups::AddGroup(SegmentGroup& group) {
  static_assert(2 * kMostLanes < kPlaces);  // so every probe ends
  if (!Has(group.lane())) return;
  size_t place = PlaceOf(group.key().stream, group.key().small);
  while (by_key_[place].load(std::memory_order_relaxed) != nullptr) place = (place + 1) % kPlaces;
  by_key_[place].store(&group, std::memory_order_release);
}

void QuickGroups::AddSegment(SegmentGroup& group, DeviceAddress address, Bytes size) {
  const bool is_quick = group.pool() == nullptr && Has(group.lane());
  if (!is_quick || kept_.size() == kMostSegments) return;
  auto ranges =
      kept_.empty() ? std::make_unique<Ranges>() : std::make_unique<Ranges>(*kept_.back());
  auto end = ranges->by_address.begin() + ranges->count++;
  *end = {AddressRange::Of(address, size), &group};
  std::inplace_merge(ranges->by_address.begin(), end, end + 1, [](const Range& a, const Range& b) {
    return a.addresses.begin < b.addresses.begin;
  });
  ranges_.store(ranges.get(), std::memory_order_release);
  kept_.push_back(std::move(ranges));
}

const QuickGroups::Range* QuickGroups::Search(DeviceAddress address) const {
  const Ranges* ranges = ranges_.load(std::memory_order_acquire);
  if (ranges == nullptr) return nullptr;
  const Range* end = ranges->by_address.data() + ranges->count;
  const Range* after = std::upper_bound(
      ranges->by_address.data(), end, address,
      [](DeviceAddress at, const Range& range) { return at < range.addresses.begin; });
  if (after == ranges->by_address.data()) return nullptr;
  return std::prev(after)->addresses.Contains(address) ? std::prev(after) : nullptr;
}

SegmentGroup* QuickGroups::At(DeviceAddress address) const {
  std::atomic<const Range*>& seen = seen_[FibonacciHash<6>(address.value() >> 32)];
  const Range* range = seen.load(std::memory_order_acquire);
  if (range == nullptr || !range->addresses.Contains(address)) {
    range = Search(address);
    if (range == nullptr) return nullptr;
    seen.store(range, std::memory_order_release);
  }
  return range->group;
}

void QuickGroups::LockAll() {
  for (Lane* lane : lanes_) lane->mutex.Lock();
}

void QuickGroups::UnlockAll(bool is_open) {
  is_open_.store(is_open, std::memory_order_release);
  for (Lane* lane : lanes_) lane->mutex.Unlock();
}

}  // namespace memtrace
