// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/device_heap.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "allocator/blocks/size_policy.h"
#include "base/check.h"

namespace memtrace {
namespace {

constexpr Bytes Minus(Bytes a, Bytes b) { return a > b ? a - b : 0; }

absl::Status NotInUse(DeviceAddress address, const char* guess) {
  return absl::NotFoundError(
      absl::StrCat("no block in use starts at 0x", absl::Hex(address), guess));
}

// From planned memory.
Block* TakeSpare(SegmentGroup& group, Bytes size) {
  return group.planned() == nullptr ? nullptr : group.planned()->TakeSpare(size);
}

Block* TakeAny(SegmentGroup& group, Bytes size) {
  Block* block = group.Take(size);
  return block != nullptr ? block : TakeSpare(group, size);
}

}  // namespace

DeviceHeap::DeviceHeap(const HeapOptions& options, Vmm& vmm, StreamEvents& events,
                       AllocationObserver& observer, QuickGroups& quick)
    : device_(options.device),
      plan_(options.plan),
      limit_(options.limit),
      vmm_(vmm),
      events_(events),
      accounting_(options.device, observer),
      pending_(events),
      groups_(vmm, events, accounting_, quick),
      capture_frees_(options.captures) {
  if (plan_ != nullptr) groups_.Follow(*plan_, device_);
}

DeviceHeap::~DeviceHeap() {
  TakeUpPutOff();
  while (!pending_.empty() && pending_.WaitForNext().ok()) {
  }
  groups_.WaitForAll().IgnoreError();
}

AllocationResult DeviceHeap::Allocate(const AllocationRequest& request, Bytes size) {
  if (!put_off_.empty()) CompleteOrdered(request.stream);
  TakeUpPutOff();
  if (!pending_.empty()) CompleteDoneFrees();
  if (request.at != 0) return AllocateAt(request, size);
  SegmentGroup& group = GroupOf(request.stream, size);
  if (request.only_free) return TakeFree(group, request, size);
  const Bytes allowed = Minus(request.reject_above, accounting_.reserved());
  const DeviceAddress place = NextPlace(group, size);
  const absl::StatusOr<Block*> placed = TryPlace(group, place, size, allowed);
  if (!placed.ok()) return placed.status();
  Block* block = *placed != nullptr ? *placed : group.Take(size);
  const bool may_be_rejected = request.reject_above != AllocationRequest{}.reject_above;
  if (block == nullptr && may_be_rejected && group.segments().LeastGrowth(size) > allowed) {
    block = TakeSpare(group, size);
    if (block == nullptr) return Reject(group, request, size);
  }
  if (block == nullptr) {
    const Accounting::Attempts before = accounting_.attempts();
    const absl::StatusOr<Block*> obtained = Obtain(group, size, may_be_rejected ? 0 : place);
    // A driver that has no memory even for an event says what a full card says.
    if (!obtained.ok() && !absl::IsResourceExhausted(obtained.status())) return obtained.status();
    if (!obtained.ok() || *obtained == nullptr) {
      if (request.is_trial) accounting_.ForgetSince(before);
      return DescribeFailure(group, request, size);
    }
    block = *obtained;
  }
  if (group.planned() != nullptr) group.planned()->Count(block->address == place);
  return Hand(block, request.bytes, request.context);
}

AllocationResult DeviceHeap::TakeFree(SegmentGroup& group, const AllocationRequest& request,
                                      Bytes size) {
  Block* block = group.planned() == nullptr ? group.Take(size) : nullptr;
  if (block == nullptr) return absl::ResourceExhaustedError("nothing that lies free serves it");
  return Hand(block, request.bytes, request.context);
}

DeviceAddress DeviceHeap::Hand(Block* block, Bytes requested, uint64_t context) {
  SegmentGroup& group = GroupOf(*block);  // a donor's, perhaps
  accounting_.MakeRoom(group.lane().share, group.key().small, AmountsOf(block->size, requested));
  return group.Hand(block, requested, context);
}

absl::Status DeviceHeap::Free(DeviceAddress address) {
  SegmentGroup* group = groups_.OwnerOf(address);
  if (group == nullptr) return NotInUse(address, ": freed twice?");
  Block* block = group->blocks().Find(address);
  if (block->recorded_streams.empty()) {
    group->Free(block);
    return absl::OkStatus();
  }
  // Who frees cannot do anything about a driver that records no event: that is tried again.
  const bool is_captured = MustBePutOff(*block);
  if (is_captured) NoteLastUses(block);
  if (is_captured || !pending_.Add(block).ok()) {
    PutOff(block);
    return absl::OkStatus();
  }
  group->LetWait(block);
  return absl::OkStatus();
}

void DeviceHeap::PutOff(Block* block) {
  GroupOf(*block).LetWait(block);
  put_off_.push_back(block);
}

void DeviceHeap::MergeRecent() {
  for (const auto& group : groups_.all()) group->MergeRecent();
}

absl::Status DeviceHeap::RecordStream(DeviceAddress address, StreamId stream) {
  const SegmentGroup* group = groups_.OwnerOf(address);
  if (group == nullptr) return NotInUse(address, "");
  Block* block = group->blocks().Find(address);
  block->RecordStream(stream, group->key().stream);
  const bool is_used_outside =
      pools_.routing() && capture_frees_.enabled() && !events_.IsCapturing(stream);
  if (is_used_outside) capture_frees_.Exclude(block);
  return absl::OkStatus();
}

absl::Status DeviceHeap::EmptyCache(const PoolId& pool) {
  TakeUpPutOff();
  CompletePutOff();
  MergeRecent();
  const bool is_all = pool == PoolId{};
  absl::Status status = CompleteAllOf(is_all ? nullptr : &pool);
  if (status.ok() && is_all) status = groups_.TakeBack(SegmentGroups::kEverything, nullptr);
  if (status.ok() && !is_all) {
    if (const Pool* its = pools_.Find(pool)) status = groups_.TakeBackFrom(*its);
  }
  ForgetUnusedPools();
  return status;
}

absl::Status DeviceHeap::CompleteAllOf(const PoolId* pool) {
  if (pool == nullptr) accounting_.WaitedForAllStreams();
  while (pool == nullptr ? !pending_.empty() : pending_.HasAny(*pool)) {
    const absl::StatusOr<Block*> done = pending_.WaitForNext();
    if (!done.ok()) return done.status();
    Complete(*done);
  }
  return absl::OkStatus();
}

SegmentGroup& DeviceHeap::GroupOf(StreamId stream, Bytes size) {
  Pool* pool = pools_.routing() ? pools_.Route(stream) : nullptr;
  return groups_.Of({stream, pool == nullptr ? PoolId{} : pool->id, IsSmall(size)}, pool);
}

absl::Status DeviceHeap::AddSegment(SegmentGroup& group, Bytes size) {
  const absl::StatusOr<DeviceMemory> card = LookAtCard();
  if (!card.ok()) return card.status();
  if (size > card->total) return absl::ResourceExhaustedError("larger than the card");
  const SegmentShape shape = group.segments().NextShape(size, card->total);
  // What comes from elsewhere has its memory at once.
  const bool is_over_limit = group.segments().has_source() && shape.size > Unreserved();
  if (is_over_limit) return absl::ResourceExhaustedError("over the limit");
  return groups_.AddSegment(group, shape).status();
}

absl::StatusOr<Block*> DeviceHeap::Obtain(SegmentGroup& group, Bytes size, DeviceAddress place) {
  MergeRecent();
  absl::StatusOr<Block*> block = TryGrow(group, size);
  if (!block.ok() || *block != nullptr) return block;
  if (place == 0) block = TrySpare(group, size);
  if (!block.ok() || *block != nullptr) return block;
  accounting_.Retried();
  block = TakeBackAndGrow(group, size, place);
  if (!block.ok() || *block != nullptr) return block;
  block = ObtainFromPending(group, size);
  if (block.ok() && *block == nullptr) return ObtainFromDonors(group, size);
  return block;
}

absl::StatusOr<Block*> DeviceHeap::TakeBackAndGrow(SegmentGroup& group, Bytes size,
                                                   DeviceAddress place) {
  for (const Bytes wanted : {Shortfall(group, size, place), SegmentGroups::kEverything}) {
    if (absl::Status taken = groups_.TakeBack(wanted, &group); !taken.ok()) return taken;
    absl::StatusOr<Block*> block = TryPlace(group, place, size, /*most=*/~Bytes{0});
    if (!block.ok() || *block != nullptr) return block;
    block = TryGrow(group, size);
    if (!block.ok() || *block != nullptr) return block;
  }
  return TrySpare(group, size);
}

absl::StatusOr<Block*> DeviceHeap::TryGrow(SegmentGroup& group, Bytes size) {
  auto growth = group.segments().PlanGrowth(size);
  absl::Status status;
  if (!growth.has_value()) {
    status = AddSegment(group, size);
    if (status.ok()) growth = group.segments().PlanGrowth(size);
  }
  if (growth.has_value()) {
    if (growth->size > Unreserved()) return nullptr;
    status = Grow(group, *growth);
  }
  if (!status.ok()) group.segments().DropUnmapped(/*all=*/false);
  if (absl::IsResourceExhausted(status)) return nullptr;
  if (!status.ok()) return status;
  return group.Take(size);
}

// In chunks as large as the card's room allows; granule by granule, and no more of them than must
// be, if that is refused. Small requests' chunks are always granules: what they pin lives longest.
// What cannot succeed is not begun: its undoing would take as many calls again.
absl::Status DeviceHeap::Grow(const SegmentGroup& group, const Growth& least) {
  if (least.size > Room() && !group.segments().has_source()) {
    const absl::StatusOr<DeviceMemory> card = LookAtCard();
    const bool is_hopeless = card.ok() && least.size > card->free;
    if (is_hopeless) return absl::ResourceExhaustedError("the card has too little left");
  }
  ExpandableSegment& segment = *least.hole->segment;
  const uint32_t granules =
      segment.key().small ? 1 : ChunkGranules(Room(), usable_, vmm_.granularity());
  const Growth wider = least.InChunks(granules, vmm_.granularity());
  absl::Status status = absl::ResourceExhaustedError("over the limit");
  if (granules > 1 && wider.size <= Unreserved()) status = segment.Grow(wider);
  if (!absl::IsResourceExhausted(status)) return status;
  return segment.Grow({least.hole, least.address, least.size, /*chunk=*/1});
}

absl::StatusOr<Block*> DeviceHeap::ObtainFromPending(SegmentGroup& group, Bytes size) {
  if (pending_.empty() && put_off_.empty()) return nullptr;
  accounting_.WaitedForAllStreams();
  CompletePutOff();
  if (Block* block = TakeAny(group, size)) return block;
  while (!pending_.empty()) {
    const absl::StatusOr<Block*> done = pending_.WaitForNext();
    if (!done.ok()) return done.status();
    Complete(*done);
    if (Block* block = TakeAny(group, size)) return block;
  }
  absl::Status taken = groups_.TakeBack(SegmentGroups::kEverything, &group);
  if (!taken.ok()) return taken;
  absl::StatusOr<Block*> block = TryGrow(group, size);
  return block.ok() && *block == nullptr ? TrySpare(group, size) : block;
}

Block* DeviceHeap::ObtainFromDonors(const SegmentGroup& group, Bytes size) {
  Block* block = nullptr;
  ForEachDonor(group, [&](SegmentGroup& donor) {
    if (block == nullptr) block = TakeAny(donor, size);
  });
  return block;
}

// Groups that may serve what `group` cannot: that of the other sizes, whose holes are as good as
// any when there is nothing else, and for requests of the default pool those of pools opened for
// it. All of the same stream.
template <typename Visit>
void DeviceHeap::ForEachDonor(const SegmentGroup& group, Visit visit) const {
  const auto visit_if_there = [&](const SegmentKey& key) {
    if (SegmentGroup* donor = groups_.Find(key)) visit(*donor);
  };
  SegmentKey key = group.key();
  key.small = !key.small;
  const bool has_whole_blocks = group.pool() != nullptr && group.pool()->has_fixed_segments();
  if (!has_whole_blocks) visit_if_there(key);
  if (group.pool() != nullptr) return;
  for (const auto& pool : pools_.all()) {
    if (pool->use_on_oom) visit_if_there({group.key().stream, pool->id, group.key().small});
  }
}

// How much must be taken back for the growth that would be made now.
Bytes DeviceHeap::Shortfall(const SegmentGroup& group, Bytes size, DeviceAddress place) {
  const absl::StatusOr<DeviceMemory> card = LookAtCard();
  if (!card.ok() || size > card->total) return SegmentGroups::kEverything;
  const auto at_place = place == 0 ? std::nullopt : group.planned()->MissingAt(place, size);
  const Bytes missing = at_place.has_value() ? at_place->bytes : group.segments().LeastGrowth(size);
  const Bytes shortfall = std::max(Minus(missing, card->free), Minus(missing, Unreserved()));
  // Nothing short, yet refused: the driver's free bytes are not all to be had.
  return shortfall > 0 ? shortfall : missing;
}

bool DeviceHeap::MustBePutOff(const Block& block) {
  if (!pools_.routing()) return false;
  return std::any_of(block.recorded_streams.begin(), block.recorded_streams.end(),
                     [&](StreamId stream) { return events_.IsCapturing(stream); });
}

// Nothing is lost if the driver still refuses: it is asked again at the next request.
void DeviceHeap::TakeUpPutOff() {
  if (put_off_.empty() || pools_.routing()) return;
  std::erase_if(put_off_, [&](Block* block) { return pending_.Add(block).ok(); });
}

// Of streams that take no event any more all work is waited for, if that is allowed.
void DeviceHeap::CompletePutOff() {
  if (put_off_.empty() || pools_.routing() || groups_.IsAnyCaptured()) return;
  if (!events_.WaitForAll().ok()) return;
  for (Block* block : std::exchange(put_off_, {})) Complete(block);
}

void DeviceHeap::CompleteDoneFrees() {
  while (Block* block = pending_.Poll()) Complete(block);
}

void DeviceHeap::Complete(Block* block) { GroupOf(*block).GiveBackWaiting(block); }

// As a trial: the program has asked for it and is prepared.
OutOfMemoryEvent DeviceHeap::Reject(const SegmentGroup& group, AllocationRequest request,
                                    Bytes size) {
  request.is_trial = true;
  OutOfMemoryEvent event = DescribeFailure(group, request, size);
  event.is_rejected = true;
  return event;
}

OutOfMemoryEvent DeviceHeap::DescribeFailure(const SegmentGroup& group,
                                             const AllocationRequest& request, Bytes size) {
  const DeviceMemory card = vmm_.MemoryInfo().value_or(DeviceMemory{});
  const Bytes granularity = vmm_.granularity();
  const Bytes available = RoundDown(std::min(card.free, Unreserved()), granularity);
  OutOfMemoryEvent event;
  event.device = device_;
  event.stream = group.key().stream;
  event.pool = group.key().pool;
  event.requested = request.bytes;
  event.allocated = size;
  event.obtainable =
      group.segments().Obtainable(available, ReservationSize(card.total, granularity));
  ForEachDonor(group, [&](const SegmentGroup& donor) {
    event.obtainable = std::max(event.obtainable, donor.segments().Obtainable(0, 0));
  });
  event.limit = limit_;
  event.device_free = card.free;
  event.device_total = card.total;
  event.context = request.context;
  event.ledger = ledger();
  if (!request.is_trial) accounting_.OutOfMemory(event);
  return event;
}

Bytes DeviceHeap::Unreserved() const { return Minus(limit_, accounting_.reserved()); }

absl::StatusOr<DeviceMemory> DeviceHeap::LookAtCard() {
  const absl::StatusOr<DeviceMemory> card = vmm_.MemoryInfo();
  if (card.ok()) usable_ = card->free + accounting_.reserved();
  return card;
}

// What could still be mapped, as far as is known without asking the driver.
Bytes DeviceHeap::Room() const {
  return std::min(Minus(usable_, accounting_.reserved()), Unreserved());
}

}  // namespace memtrace
