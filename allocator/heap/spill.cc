// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/spill.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "allocator/heap/ledger.h"

namespace memtrace {
namespace {

constexpr uint32_t kLongestRest = 1u << 20;

// Returns null if memory cannot, or must not, be put on the host.
std::unique_ptr<ChunkExchange> MakeExchange(Vmm& vmm, const HeapOptions& options) {
  if (options.spill == 0 || options.copies == nullptr) return nullptr;
  return std::make_unique<ChunkExchange>(vmm, *options.copies);
}

}  // namespace

Spill::Spill(CardLock& lock, DeviceHeap& heap, Vmm& vmm, StreamEvents& events,
             const HeapOptions& options)
    : lock_(lock),
      heap_(heap),
      events_(events),
      limit_(options.spill),
      has_age_(options.cache.age > 0),
      exchange_(MakeExchange(vmm, options)) {}

Spill::Moved Spill::PutOnHost(const Victims& victims, Bytes wanted) {
  Moved moved;
  moved.by_class.resize(victims.size());
  if (!is_on()) return moved;
  {
    const CardLock::Holder lock(lock_);
    if (heap_.groups().IsAnyCaptured()) {
      moved.status = absl::UnavailableError("a graph is being captured");
      return moved;
    }
  }
  // Without the lock, because work on the card may wait for a thread that needs it.
  moved.status = events_.WaitForAll();
  if (!moved.status.ok()) return moved;
  const CardLock::Holder lock(lock_);
  moved.status = exchange_->Mend();
  FreeLeft();
  for (size_t i = 0; i < victims.size() && moved.status.ok() && moved.bytes < wanted; ++i) {
    moved.by_class[i] = MoveClass(victims[i], wanted - moved.bytes, moved.status);
    moved.bytes += moved.by_class[i];
  }
  if (moved.bytes > 0) NoteLeft();
  return moved;
}

Bytes Spill::MoveClass(const std::vector<DeviceAddress>& victims, Bytes wanted,
                       absl::Status& status) {
  const absl::flat_hash_set<DeviceAddress> wanted_blocks(victims.begin(), victims.end());
  const auto may_move = [&](const Block& block) { return wanted_blocks.contains(block.address); };
  Bytes sum = 0;
  ForEachSegment([&](SegmentGroup& group, ExpandableSegment& segment)
                     ABSL_NO_THREAD_SAFETY_ANALYSIS {
                       if (sum >= wanted || !status.ok()) return;
                       for (const AddressRange& piece : segment.spill().PiecesOnCard(may_move)) {
                         if (sum >= wanted || !status.ok()) return;
                         if (OnHost() + piece.size() > limit_)
                           status = absl::ResourceExhaustedError("the limit of --spill");
                         if (status.ok()) status = segment.spill().ToHost(piece, *exchange_);
                         if (!status.ok()) return;
                         MarkOnHost(group, segment, piece);
                         segment.spill().CountLeft(piece);
                         sum += piece.size();
                       }
                     });
  return sum;
}

void Spill::MarkOnHost(SegmentGroup& group, ExpandableSegment& segment, const AddressRange& piece) {
  segment.spill().ForEachBlock(piece, [&](Block& block) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!block.is(Block::State::kAllocated)) return;
    block.state = Block::State::kOnHost;
    heap_.accounting().blocks().Freed(block, group.key(), group.lane().share);
  });
}

// Marks blocks that have no memory of the host any more.
void Spill::MarkOnCard(SegmentGroup& group, ExpandableSegment& segment, const AddressRange& piece) {
  segment.spill().ForEachBlock(piece, [&](Block& block) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const bool is_back =
        block.is(Block::State::kOnHost) && !segment.spill().HasPartOnHost(block.range());
    if (!is_back) return;
    block.state = Block::State::kAllocated;
    BlockAccount& account = heap_.accounting().blocks();
    UsageShare& share = group.lane().share;
    account.usage().MakeRoom(share, group.key().small, AmountsOf(block.size, block.requested));
    account.Allocated(block, group.key(), share);
  });
}

// Memory that leaves in the step after it came back rests on the host, each time twice as long.
void Spill::NoteLeft() {
  if (steps_here_ > 1) return;
  rest_ = next_rest_;
  next_rest_ = std::min(2 * next_rest_, kLongestRest);
  steps_here_ = ~uint32_t{0};
}

Spill::CameBack Spill::EndStep() {
  if (!is_on()) return {};
  {
    const CardLock::Holder lock(lock_);
    if (steps_here_ != ~uint32_t{0}) ++steps_here_;
    peak_ = has_age_ ? heap_.accounting().mapping().reserved()
                     : static_cast<Bytes>(heap_.accounting().blocks().usage().TakePeak());
    const bool is_idle = OnHost() == 0 && !exchange_->has_rest();
    if (is_idle || heap_.groups().IsAnyCaptured()) return {};
    if (rest_ > 0) --rest_;
  }
  if (!events_.WaitForAll().ok()) return {};
  const CardLock::Holder lock(lock_);
  CameBack back;
  if (!exchange_->Mend().ok()) return back;
  back.freed = FreeLeft();
  if (rest_ == 0) back.bytes = BringBack();
  if (back.bytes > 0) steps_here_ = 0;
  return back;
}

Bytes Spill::BringBack() {
  struct Part {
    SegmentGroup* group = nullptr;
    ExpandableSegment* segment = nullptr;  // is not dropped, because it has memory
    AddressRange piece;
  };
  std::vector<Part> parts;
  ForEachSegment([&](SegmentGroup& group, ExpandableSegment& segment) {
    for (const AddressRange& piece : segment.spill().PiecesOnHost())
      parts.push_back({&group, &segment, piece});
  });
  const Bytes room = RoomOnCard();
  Bytes sum = 0;
  for (const Part& part : parts) {
    if (sum + part.piece.size() > room) break;
    TakeBackFor(part.piece.size());
    if (!part.segment->spill().ToCard(part.piece, *exchange_).ok()) break;
    MarkOnCard(*part.group, *part.segment, part.piece);
    sum += part.piece.size();
  }
  FreeLeft();  // blocks that have no memory of the host any more
  return sum;
}

// Gives cached memory back to the driver if it has not as much.
void Spill::TakeBackFor(Bytes bytes) {
  const absl::StatusOr<DeviceMemory> card = heap_.room().QueryDriver();
  if (card.ok() && card->free < bytes)
    heap_.groups().TakeBack(bytes - card->free, nullptr).IgnoreError();
}

// Returns what the card has beyond the most that the last step needed at once.
Bytes Spill::RoomOnCard() {
  heap_.waiting().CompleteFinished();
  heap_.groups().MergeRecent();
  heap_.leaving().KeepAll();
  const absl::StatusOr<DeviceMemory> card = heap_.room().QueryDriver();
  if (!card.ok()) return 0;
  const AllocatorLedger ledger = LedgerOf(heap_.groups(), heap_.accounting());
  const Bytes free = std::min(card->free, heap_.room().RemainingUnderLimit()) + ledger.cached;
  const Bytes now = ledger.live_allocated + ledger.stream_wait;
  return Minus(free, Minus(peak_, now));
}

bool Spill::MayMove(const SegmentGroup& group) const {
  const SegmentKey& key = group.key();
  return group.pool() == nullptr && !key.is_movable() && !key.small;
}

void Spill::ForEachSegment(
    const std::function<void(SegmentGroup&, ExpandableSegment&)>& visit) const {
  for (const auto& group : heap_.groups().all()) {
    if (!MayMove(*group)) continue;
    for (const auto& segment : group->segments().all()) {
      if (!segment->shape().is_planned && !segment->shape().is_fixed()) visit(*group, *segment);
    }
  }
}

Bytes Spill::OnHost() const {
  Bytes sum = 0;
  for (const auto& group : heap_.groups().all()) {
    for (const auto& segment : group->segments().all()) sum += segment->spill().on_host();
  }
  return sum;
}

Bytes Spill::FreeLeft() {
  Bytes sum = 0;
  ForEachSegment([&](SegmentGroup& /*group*/, ExpandableSegment& segment) {
    sum += segment.spill().FreeLeft();
  });
  return sum;
}

Bytes Spill::on_host() const {
  const CardLock::Holder lock(lock_);
  return OnHost();
}

}  // namespace memtrace
