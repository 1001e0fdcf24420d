// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/spill.h"

#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "allocator/heap/parts/ledger.h"
#include "base/status_macros.h"

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
  moved.status = WaitForWork();
  if (!moved.status.ok()) return moved;
  const CardLock::Holder lock(lock_);
  moved.status = Mend();
  if (moved.status.ok()) moved.freed = FreeLeft();
  for (size_t i = 0; i < victims.size() && moved.status.ok() && moved.bytes < wanted; ++i) {
    moved.by_class[i] = MoveClass(victims[i], wanted - moved.bytes, moved.status);
    moved.bytes += moved.by_class[i];
  }
  if (moved.bytes > 0) NoteLeft();
  return moved;
}

absl::Status Spill::WaitForWork() {
  {
    const CardLock::Holder lock(lock_);
    if (heap_.groups().IsAnyCaptured()) return absl::UnavailableError("a graph is being captured");
  }
  // Without the lock, because work on the card may wait for a thread that needs it.
  return events_.WaitForAll();
}

bool Spill::HasLeft() const {
  const CardLock::Holder lock(lock_);
  bool has_left = false;
  ForEachSegment([&](SegmentGroup& /*group*/, ExpandableSegment& segment) {
    segment.spill().ForEachBlock(segment.reservation().range(), [&](const Block& block) {
      has_left = has_left || block.is(Block::State::kLeftOnHost);
    });
  });
  return has_left;
}

Bytes Spill::FreeLeftBlocks() {
  if (!is_on() || !HasLeft() || !WaitForWork().ok()) return 0;
  const CardLock::Holder lock(lock_);
  return Mend().ok() ? FreeLeft() : 0;
}

Bytes Spill::MoveClass(const std::vector<DeviceAddress>& victims, Bytes wanted,
                       absl::Status& status) {
  const absl::flat_hash_set<DeviceAddress> wanted_blocks(victims.begin(), victims.end());
  const auto may_move = [&](const Block& block) { return wanted_blocks.contains(block.address); };
  Bytes sum = 0;
  ForEachSegment([&](SegmentGroup& group, ExpandableSegment& segment)
                     ABSL_NO_THREAD_SAFETY_ANALYSIS {
                       if (sum >= wanted || !status.ok()) return;
                       for (const AddressRange& range : segment.spill().PiecesOnCard(may_move)) {
                         if (sum < wanted && status.ok())
                           sum += MovePiece({&group, &segment, range}, status);
                       }
                     });
  return sum;
}

Bytes Spill::MovePiece(const Piece& piece, absl::Status& status) {
  if (OnHost() + piece.range.size() > limit_)
    status = absl::ResourceExhaustedError("the limit of --spill");
  if (status.ok()) status = piece.segment->spill().ToHost(piece.range, *exchange_);
  if (!status.ok() && exchange_->is_torn()) NoteTorn(piece);
  if (!status.ok()) return 0;
  MarkOnHost(piece);
  piece.segment->spill().CountLeft(piece.range);
  return piece.range.size();
}

void Spill::MarkOnHost(const Piece& piece) {
  const auto mark = [&](Block& block) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!block.is(Block::State::kAllocated)) return;
    block.state = Block::State::kOnHost;
    heap_.accounting().blocks().Freed(block, piece.group->key(), piece.group->lane().share);
  };
  piece.segment->spill().ForEachBlock(piece.range, mark);
}

absl::Status Spill::Settle() {
  if (!is_on()) return absl::OkStatus();
  MEMTRACE_RETURN_IF_ERROR(Mend());
  FreeLeft();
  return absl::OkStatus();
}

std::vector<DeviceAddress> Spill::BlocksOnHost() const {
  const CardLock::Holder lock(lock_);
  std::vector<DeviceAddress> found;
  ForEachSegment([&](SegmentGroup& /*group*/, ExpandableSegment& segment) {
    segment.spill().ForEachBlock(segment.reservation().range(), [&](const Block& block) {
      if (block.is(Block::State::kOnHost)) found.push_back(block.address);
    });
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<DeviceAddress> Spill::OfMovableOwners(const std::vector<DeviceAddress>& blocks) const {
  const CardLock::Holder lock(lock_);
  std::vector<DeviceAddress> found;
  for (const auto& group : heap_.groups().all()) {
    if (!group->key().is_movable()) continue;
    const BlocksByAddress& of_owner = group->blocks();
    std::copy_if(
        blocks.begin(), blocks.end(), std::back_inserter(found), [&](DeviceAddress address) {
          return of_owner.Find(address) != nullptr || of_owner.FindOnHost(address) != nullptr;
        });
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Undoes what the driver has refused to undo before.
absl::Status Spill::Mend() {
  MEMTRACE_RETURN_IF_ERROR(exchange_->Mend());
  if (!torn_.has_value()) return absl::OkStatus();
  torn_->segment->spill().NoteTorn(false);
  MarkOnCard(*torn_);
  torn_.reset();
  return absl::OkStatus();
}

void Spill::NoteTorn(const Piece& piece) {
  torn_ = piece;
  piece.segment->spill().NoteTorn(true);
  MarkOnHost(piece);
}

// Marks blocks that have no memory of the host any more.
void Spill::MarkOnCard(const Piece& piece) {
  const SegmentKey& key = piece.group->key();
  UsageShare& share = piece.group->lane().share;
  const auto mark = [&](Block& block) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const bool is_back =
        block.is(Block::State::kOnHost) && !piece.segment->spill().HasPartOnHost(block.range());
    if (!is_back) return;
    block.state = Block::State::kAllocated;
    BlockAccount& account = heap_.accounting().blocks();
    account.usage().MakeRoom(share, key.small, AmountsOf(block.size, block.requested));
    account.Allocated(block, key, share);
  };
  piece.segment->spill().ForEachBlock(piece.range, mark);
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
  if (!Mend().ok()) return back;
  back.freed = FreeLeft();
  if (rest_ == 0) back.bytes = BringBack();
  // Freed blocks may have no memory of the host any more.
  if (!exchange_->is_torn()) back.freed += FreeLeft();
  if (back.bytes > 0) steps_here_ = 0;
  return back;
}

Bytes Spill::BringBack() {
  std::vector<Piece> pieces;
  ForEachSegment([&](SegmentGroup& group, ExpandableSegment& segment) {
    for (const AddressRange& range : segment.spill().PiecesOnHost())
      pieces.push_back({&group, &segment, range});
  });
  const Bytes room = RoomOnCard();
  Bytes sum = 0;
  for (const Piece& piece : pieces) {
    if (sum + piece.range.size() > room) break;
    TakeBackFor(piece.range.size());
    if (!piece.segment->spill().ToCard(piece.range, *exchange_).ok()) break;
    MarkOnCard(piece);
    sum += piece.range.size();
  }
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
  return group.pool() == nullptr && !key.small;
}

void Spill::ForEachSegment(
    const std::function<void(SegmentGroup&, ExpandableSegment&)>& visit) const {
  for (const auto& group : heap_.groups().all()) {
    if (!MayMove(*group)) continue;
    for (const auto& segment : group->segments().all()) {
      const bool is_grown = !segment->shape().is_planned && !segment->shape().is_fixed();
      if (is_grown && !segment->sleep().is_asleep()) visit(*group, *segment);
    }
  }
}

Bytes Spill::OnHost() const { return heap_.accounting().mapping().on_host(); }

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

bool Spill::is_torn() const {
  const CardLock::Holder lock(lock_);
  return is_on() && exchange_->is_torn();
}

}  // namespace memtrace
