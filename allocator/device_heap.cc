// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/device_heap.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "allocator/check.h"
#include "allocator/size_policy.h"
#include "allocator/snapshot.h"

namespace memtrace {
namespace {

constexpr Bytes Minus(Bytes a, Bytes b) { return a > b ? a - b : 0; }

}  // namespace

DeviceHeap::DeviceHeap(const CachingAllocator::Options& options, Vmm& vmm, StreamEvents& events,
                       AllocationObserver& observer)
    : device_(options.device),
      limit_(options.limit),
      vmm_(vmm),
      events_(events),
      accounting_(options.device, observer),
      pending_(events) {}

DeviceHeap::~DeviceHeap() {
  while (!pending_.empty() && pending_.WaitForNext().ok()) {
  }
  for (const auto& group : groups_) WaitFor(group->key().stream).IgnoreError();
}

AllocationResult DeviceHeap::Allocate(Bytes bytes, StreamId stream, uint64_t context) {
  MEMTRACE_CHECK_GT(bytes, Bytes{0});
  const Bytes size = RoundedSize(bytes);
  if (!pending_.empty()) CompleteDoneFrees();
  SegmentGroup& group = GroupOf({stream, PoolId{}, IsSmall(size)});
  Block* block = group.Take(size);
  if (block == nullptr) {
    const absl::StatusOr<Block*> obtained = Obtain(group, size);
    if (!obtained.ok()) return obtained.status();
    if (*obtained == nullptr) return DescribeFailure(group, bytes, size, context);
    block = *obtained;
  }
  block->requested = bytes;
  block->context = context;
  in_use_.emplace(block->address, block);
  accounting_.Allocated(*block, group.key());
  return block->address;
}

absl::Status DeviceHeap::Free(DeviceAddress address) {
  const auto found = in_use_.find(address);
  if (found == in_use_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no block in use starts at 0x", absl::Hex(address), ": freed twice?"));
  }
  Block* block = found->second;
  const bool is_shared = !block->recorded_streams.empty();
  if (is_shared) {
    if (absl::Status added = pending_.Add(block); !added.ok()) return added;
    block->state = Block::State::kPendingFree;
  }
  in_use_.erase(found);
  accounting_.FreeRequested(*block, block->segment->key());
  if (!is_shared) Complete(block);
  return absl::OkStatus();
}

absl::Status DeviceHeap::RecordStream(DeviceAddress address, StreamId stream) {
  const auto found = in_use_.find(address);
  if (found == in_use_.end()) {
    return absl::NotFoundError(absl::StrCat("no block in use starts at 0x", absl::Hex(address)));
  }
  Block* block = found->second;
  auto& recorded = block->recorded_streams;
  const bool is_known = stream == block->segment->key().stream ||
                        std::find(recorded.begin(), recorded.end(), stream) != recorded.end();
  if (!is_known) recorded.push_back(stream);
  return absl::OkStatus();
}

absl::Status DeviceHeap::EmptyCache() {
  accounting_.WaitedForAllStreams();
  while (!pending_.empty()) {
    const absl::StatusOr<Block*> done = pending_.WaitForNext();
    if (!done.ok()) return done.status();
    Complete(*done);
  }
  return TakeBack(kEverything, nullptr);
}

SegmentGroup& DeviceHeap::GroupOf(const SegmentKey& key) {
  SegmentGroup*& group = group_by_key_[key];
  if (group == nullptr) {
    groups_.push_back(std::make_unique<SegmentGroup>(key));
    group = groups_.back().get();
  }
  return *group;
}

absl::Status DeviceHeap::AddSegment(SegmentGroup& group, Bytes size) {
  const absl::StatusOr<DeviceMemory> card = vmm_.MemoryInfo();
  if (!card.ok()) return card.status();
  if (size > card->total) return absl::ResourceExhaustedError("larger than the card");
  const Bytes reservation = ReservationSize(card->total, vmm_.granularity());
  auto segment = ExpandableSegment::Reserve(group.key(), reservation, vmm_, arena_, accounting_);
  if (!segment.ok()) return segment.status();
  group.Add(*std::move(segment));
  return absl::OkStatus();
}

absl::StatusOr<Block*> DeviceHeap::Obtain(SegmentGroup& group, Bytes size) {
  absl::StatusOr<Block*> block = TryGrow(group, size);
  if (!block.ok() || *block != nullptr) return block;
  accounting_.Retried();
  for (const Bytes wanted : {Shortfall(group, size), kEverything}) {
    if (absl::Status taken = TakeBack(wanted, &group); !taken.ok()) return taken;
    block = TryGrow(group, size);
    if (!block.ok() || *block != nullptr) return block;
  }
  return ObtainFromPending(group, size);
}

absl::StatusOr<Block*> DeviceHeap::TryGrow(SegmentGroup& group, Bytes size) {
  auto growth = group.PlanGrowth(size);
  absl::Status status;
  if (!growth.has_value()) {
    status = AddSegment(group, size);
    if (status.ok()) growth = group.PlanGrowth(size);
  }
  if (growth.has_value()) {
    if (growth->size > Unreserved()) return nullptr;
    status = growth->hole->segment->Grow(*growth);
  }
  if (absl::IsResourceExhausted(status)) return nullptr;
  if (!status.ok()) return status;
  return group.Take(size);
}

absl::StatusOr<Block*> DeviceHeap::ObtainFromPending(SegmentGroup& group, Bytes size) {
  if (pending_.empty()) return nullptr;
  accounting_.WaitedForAllStreams();
  while (!pending_.empty()) {
    const absl::StatusOr<Block*> done = pending_.WaitForNext();
    if (!done.ok()) return done.status();
    Complete(*done);
    if (Block* block = group.Take(size)) return block;
  }
  if (absl::Status taken = TakeBack(kEverything, &group); !taken.ok()) return taken;
  return TryGrow(group, size);
}

// How much must be taken back for the growth that would be made now.
Bytes DeviceHeap::Shortfall(const SegmentGroup& group, Bytes size) {
  const absl::StatusOr<DeviceMemory> card = vmm_.MemoryInfo();
  if (!card.ok() || size > card->total) return kEverything;
  const auto growth = group.PlanGrowth(size);
  const Bytes missing = growth.has_value() ? growth->size : RoundUp(size, vmm_.granularity());
  const Bytes shortfall = std::max(Minus(missing, card->free), Minus(missing, Unreserved()));
  // Nothing short, yet refused: the driver's free bytes are not all to be had.
  return shortfall > 0 ? shortfall : missing;
}

// `last` is taken from last: the growth is planned beside its free ranges. Others by age.
absl::Status DeviceHeap::TakeBack(Bytes wanted, const SegmentGroup* last) {
  Bytes taken = 0;
  for (const bool is_turn_of_last : {false, true}) {
    for (const auto& group : groups_) {
      if ((group.get() == last) != is_turn_of_last || taken >= wanted) continue;
      const absl::StatusOr<Bytes> bytes = TakeBackFrom(*group, wanted - taken);
      if (!bytes.ok()) return bytes.status();
      taken += *bytes;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> DeviceHeap::TakeBackFrom(const SegmentGroup& group, Bytes wanted) {
  Bytes taken = 0;
  bool has_waited = false;
  for (const auto& segment : group.segments()) {
    if (taken >= wanted || segment->trimmable() == 0) continue;
    if (!std::exchange(has_waited, true)) {
      if (absl::Status waited = WaitFor(group.key().stream); !waited.ok()) return waited;
    }
    const absl::StatusOr<Bytes> bytes = segment->Trim(wanted - taken);
    if (!bytes.ok()) return bytes.status();
    taken += *bytes;
  }
  return taken;
}

absl::Status DeviceHeap::WaitFor(StreamId stream) {
  const absl::StatusOr<EventId> event = events_.Record(stream);
  return event.ok() ? events_.Wait(*event) : event.status();
}

void DeviceHeap::CompleteDoneFrees() {
  while (Block* block = pending_.Poll()) Complete(block);
}

void DeviceHeap::Complete(Block* block) {
  accounting_.FreeCompleted(*block, block->segment->key());
  block->recorded_streams.clear();
  block->requested = 0;
  block->context = 0;
  block->segment->Return(block);
}

OutOfMemoryEvent DeviceHeap::DescribeFailure(const SegmentGroup& group, Bytes bytes, Bytes size,
                                             uint64_t context) {
  const DeviceMemory card = vmm_.MemoryInfo().value_or(DeviceMemory{});
  const Bytes granularity = vmm_.granularity();
  const Bytes available = RoundDown(std::min(card.free, Unreserved()), granularity);
  OutOfMemoryEvent event;
  event.device = device_;
  event.stream = group.key().stream;
  event.pool = group.key().pool;
  event.requested = bytes;
  event.allocated = size;
  event.obtainable = group.Obtainable(available, ReservationSize(card.total, granularity));
  event.limit = limit_;
  event.device_free = card.free;
  event.device_total = card.total;
  event.context = context;
  event.ledger = ledger();
  accounting_.OutOfMemory(event);
  return event;
}

Bytes DeviceHeap::Unreserved() const { return Minus(limit_, accounting_.reserved()); }

template <typename Visit>
void DeviceHeap::ForEachSegment(Visit visit) const {
  for (const auto& group : groups_) {
    for (const auto& segment : group->segments()) visit(*segment);
  }
}

AllocatorLedger DeviceHeap::ledger() const {
  const Statistics& statistics = accounting_.statistics();
  const auto current = [](const StatisticByPool& s) { return static_cast<Bytes>(s.all.current); };
  AllocatorLedger ledger;
  ledger.reserved = accounting_.reserved();
  ledger.live_requested = current(statistics.requested_bytes) - pending_.requested();
  ledger.live_allocated = current(statistics.allocated_bytes);
  ledger.stream_wait = current(statistics.active_bytes) - ledger.live_allocated;
  ForEachSegment([&](const ExpandableSegment& segment) {
    const Bytes whole = segment.trimmable();
    ledger.cached += whole;
    ledger.holes += segment.free_bytes() - whole;
    ledger.largest_hole = std::max(ledger.largest_hole, segment.largest_free());
  });
  return ledger;
}

// Walks the segment: asked for when memory is shared with another process, not per allocation.
std::optional<CachingAllocator::Range> DeviceHeap::BaseAllocation(DeviceAddress address) const {
  std::optional<CachingAllocator::Range> range;
  ForEachSegment([&](const ExpandableSegment& segment) {
    if (address < segment.address() || address - segment.address() >= segment.size()) return;
    const Block* block = segment.first();
    while (block->end() <= address) block = block->next;
    if (block->is(Block::State::kAllocated)) range = {block->address, block->size};
  });
  return range;
}

std::vector<SegmentView> DeviceHeap::Snapshot() const {
  std::vector<SegmentView> views;
  ForEachSegment([&](const ExpandableSegment& segment) { AppendViews(segment, views); });
  std::sort(views.begin(), views.end(),
            [](const SegmentView& a, const SegmentView& b) { return a.address < b.address; });
  return views;
}

void DeviceHeap::CheckInvariants() const {
  Bytes mapped = 0;
  Bytes allocated = 0;
  size_t blocks = 0;
  ForEachSegment([&](const ExpandableSegment& segment) {
    segment.CheckInvariants();
    mapped += segment.mapped();
    for (const Block* block = segment.first(); block != nullptr; block = block->next) {
      if (!block->is(Block::State::kAllocated)) continue;
      const auto found = in_use_.find(block->address);
      MEMTRACE_CHECK(found != in_use_.end());
      MEMTRACE_CHECK_EQ(found->second, block);
      allocated += block->size;
      ++blocks;
    }
  });
  MEMTRACE_CHECK_EQ(blocks, in_use_.size());
  const AllocatorLedger sums = ledger();
  MEMTRACE_CHECK_EQ(sums.reserved, mapped);
  MEMTRACE_CHECK_EQ(sums.live_allocated, allocated);
  MEMTRACE_CHECK_LE(sums.live_requested, sums.live_allocated);
  MEMTRACE_CHECK_EQ(sums.live_allocated + sums.stream_wait + sums.cached + sums.holes,
                    sums.reserved);
}

}  // namespace memtrace
