// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/expandable_segment.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/check.h"

// Invariants:
// 1. the blocks from `first_` on tile the reservation, in address order;
// 2. no two neighbours are both free, nor both unmapped;
// 3. `holes_` has exactly the unmapped blocks, `free_` exactly the free ones;
// 4. `recent_` has exactly the recently freed blocks;
// 5. a granule is in `chunks_` if and only if it lies in a block that is not unmapped.
namespace memtrace {
namespace {

Bytes FreeSize(const Block* block) {
  return block != nullptr && block->is(Block::State::kFree) ? block->size : 0;
}

bool IsHole(const Block* block) { return block != nullptr && block->is(Block::State::kUnmapped); }

}  // namespace

absl::StatusOr<std::unique_ptr<ExpandableSegment>> ExpandableSegment::Reserve(
    const SegmentKey& key, const Shape& shape, Vmm& vmm, BlockArena& arena,
    Accounting& accounting) {
  const absl::StatusOr<DeviceAddress> address = vmm.Reserve(shape.size);
  if (!address.ok()) return address.status();
  accounting.Reserved(key, *address, shape.size);
  return std::unique_ptr<ExpandableSegment>(
      new ExpandableSegment(key, *address, shape, vmm, arena, accounting));
}

ExpandableSegment::ExpandableSegment(const SegmentKey& key, DeviceAddress address,
                                     const Shape& shape, Vmm& vmm, BlockArena& arena,
                                     Accounting& accounting)
    : key_(key),
      address_(address),
      size_(shape.size),
      granularity_(shape.granule),
      holds_one_(shape.holds_one),
      is_planned_(shape.is_planned),
      vmm_(vmm),
      arena_(arena),
      accounting_(accounting),
      free_(arena),
      first_(arena.New()) {
  MEMTRACE_CHECK_EQ(size_ % granularity_, Bytes{0});
  if (is_planned_) free_.KeepByAddress();
  first_->address = address_;
  first_->size = size_;
  first_->segment = this;
  first_->state = Block::State::kUnmapped;
  holes_.emplace(address_, first_);
}

ExpandableSegment::~ExpandableSegment() {
  // Nobody is left to tell about a failure; at worst the process ends with it.
  for (const ChunkRange chunk : chunks_.chunks()) UnmapChunk(chunk).IgnoreError();
  Close().IgnoreError();
  for (Block* block = first_; block != nullptr;) arena_.Recycle(std::exchange(block, block->next));
}

absl::Status ExpandableSegment::Close() {
  if (absl::Status undone = UndoRest(); !undone.ok()) return undone;
  if (!unreleased_.empty()) return absl::UnavailableError("the driver keeps a chunk's handle");
  if (is_closed_) return absl::OkStatus();
  absl::Status status = vmm_.ReleaseReservation(address_, size_);
  is_closed_ = status.ok();
  return status;
}

absl::Status ExpandableSegment::UndoRest() {
  for (const ChunkHandle handle : std::exchange(unreleased_, {})) ReleaseHandle(handle);
  absl::Status status;
  while (status.ok() && !without_access_.empty()) {
    status = UnmapChunk(without_access_.back());
    if (status.ok()) without_access_.pop_back();
  }
  return status;
}

Block* ExpandableSegment::TakeAt(DeviceAddress address, Bytes size) {
  if (!Contains(address)) return nullptr;
  Block* block = is_planned_ ? free_.At(address) : first_;
  if (block == nullptr) return nullptr;
  while (block->end() <= address) block = block->next;
  const bool fits = block->is(Block::State::kFree) && size <= block->end() - address;
  return fits ? free_.TakeAt(block, address, size) : nullptr;
}

const Block* ExpandableSegment::FreeOrHoleAt(DeviceAddress address) const {
  if (const Block* range = free_.At(address)) return range;
  const auto after = holes_.upper_bound(address);
  if (after == holes_.begin()) return nullptr;
  const Block* hole = std::prev(after)->second;
  return address < hole->end() ? hole : nullptr;
}

std::optional<ExpandableSegment::Missing> ExpandableSegment::MissingAt(DeviceAddress address,
                                                                       Bytes size) const {
  const DeviceAddress from = AddressOf(IndexOf(address));
  const DeviceAddress to = AddressOf(IndexOf(address + size + granularity_ - 1));
  const Block* block = FreeOrHoleAt(address);
  if (block == nullptr) return std::nullopt;
  Missing missing;
  for (; block != nullptr && block->address < address + size; block = block->next) {
    if (block->is(Block::State::kFree)) continue;
    if (!IsHole(block)) return std::nullopt;
    const DeviceAddress begin = std::max(block->address, from);
    const Bytes bytes = std::min(block->end(), to) - begin;
    if (missing.bytes == 0) missing.first = {holes_.at(block->address), begin, bytes};
    missing.bytes += bytes;
  }
  return missing;
}

std::optional<ExpandableSegment::Growth> ExpandableSegment::PlanGrowth(Bytes size) const {
  std::optional<Growth> best;
  for (const auto& entry : holes_) {
    Block* const hole = entry.second;
    const Bytes below = FreeSize(hole->previous);
    const Bytes above = FreeSize(hole->next);
    if (below + hole->size + above < size) continue;
    // At the bottom of the hole the request starts in the free range below, at its top it ends in
    // the one above; if neither end suffices, all of the hole is needed.
    const auto missing = [&](Bytes beside) {
      return std::min(hole->size, RoundUp(size - std::min(size, beside), granularity_));
    };
    const bool at_bottom = missing(below) <= missing(above);
    const Bytes mapped = at_bottom ? missing(below) : missing(above);
    if (mapped == 0 || (best.has_value() && best->size <= mapped)) continue;
    best = Growth{hole, at_bottom ? hole->address : hole->end() - mapped, mapped};
  }
  return best;
}

ExpandableSegment::Growth ExpandableSegment::InChunks(const Growth& growth,
                                                      uint32_t granules) const {
  const Block& hole = *growth.hole;
  Growth wider{growth.hole, hole.address, RoundUp(growth.size, granules * granularity_), granules};
  if (growth.address > hole.address && growth.address + growth.size < hole.end()) {
    wider.address = growth.address;
    wider.size = std::min(wider.size, hole.end() - growth.address);
    return wider;
  }
  wider.size = std::min(wider.size, hole.size);
  const bool is_at_bottom = growth.address == hole.address;
  if (!is_at_bottom) wider.address = hole.end() - wider.size;
  return wider;
}

absl::Status ExpandableSegment::Grow(const Growth& growth) {
  if (absl::Status undone = UndoRest(); !undone.ok()) return undone;
  Chunks fresh;
  absl::Status status = MapChunks(growth, fresh);
  if (status.ok()) status = vmm_.GiveAccess(growth.address, growth.size);
  if (status.ok()) {
    AddMapped(growth.hole, fresh);
    return status;
  }
  without_access_ = std::move(fresh);
  UndoRest().IgnoreError();  // else by the next growth
  return status;
}

absl::Status ExpandableSegment::MapChunks(const Growth& growth, Chunks& fresh) {
  GranuleIndex next = IndexOf(growth.address);
  const GranuleIndex end = IndexOf(growth.address + growth.size);
  while (next < end) {
    const ChunkRange chunk{next, NextChunk(end - next, growth.chunk)};
    if (absl::Status status = MapChunk(chunk); !status.ok()) return status;
    fresh.push_back(chunk);
    next = chunk.end();
  }
  return absl::OkStatus();
}

// The handle is released as soon as the chunk is mapped: the mapping keeps the memory, so that from
// then on one Unmap gives it back, and a chunk can never be half given back.
absl::Status ExpandableSegment::MapChunk(ChunkRange chunk) {
  const Bytes size = chunk.count * granularity_;
  const absl::StatusOr<ChunkHandle> handle = vmm_.Create(size);
  if (!handle.ok()) return handle.status();
  absl::Status status = vmm_.Map(AddressOf(chunk.first), size, *handle);
  ReleaseHandle(*handle);
  return status;
}

absl::Status ExpandableSegment::UnmapChunk(ChunkRange chunk) {
  return vmm_.Unmap(AddressOf(chunk.first), chunk.count * granularity_);
}

void ExpandableSegment::ReleaseHandle(ChunkHandle handle) {
  if (!vmm_.Release(handle).ok()) unreleased_.push_back(handle);
}

void ExpandableSegment::AddMapped(Block* hole, const Chunks& fresh) {
  const DeviceAddress begin = AddressOf(fresh.front().first);
  const DeviceAddress end = AddressOf(fresh.back().end());
  const int ranges = chunks_.ranges();
  for (const ChunkRange chunk : fresh) chunks_.Add(chunk);
  holes_.erase(hole->address);
  Block* mapped = Isolate(hole, begin, end);
  for (Block* beside : {mapped->previous, mapped->next}) {
    if (IsHole(beside)) holes_.insert_or_assign(beside->address, beside);
  }
  free_.Return(mapped);
  accounting_.Mapped(key_, begin, end - begin, chunks_.ranges() - ranges);
}

absl::StatusOr<Bytes> ExpandableSegment::Trim(Bytes wanted) {
  UndoRest().IgnoreError();
  std::vector<Block*> candidates = free_.NoSmallerThan(granularity_);
  std::sort(candidates.begin(), candidates.end(),
            [](const Block* a, const Block* b) { return a->address > b->address; });
  Bytes unmapped = 0;
  for (Block* block : candidates) {
    if (unmapped >= wanted) break;
    absl::Status status = TrimBlock(block, wanted, unmapped);
    if (!status.ok()) return status;
  }
  return unmapped;
}

absl::Status ExpandableSegment::TrimBlock(Block* block, Bytes wanted, Bytes& unmapped) {
  const Chunks whole = WholeChunks(*block);
  if (whole.empty()) return absl::OkStatus();
  const DeviceAddress end = AddressOf(whole.back().end());
  DeviceAddress begin = end;
  const int ranges = chunks_.ranges();
  absl::Status status;
  for (auto chunk = whole.rbegin(); chunk != whole.rend() && unmapped < wanted; ++chunk) {
    status = UnmapChunk(*chunk);
    if (!status.ok()) break;
    chunks_.Remove(*chunk);
    begin = AddressOf(chunk->first);
    unmapped += chunk->count * granularity_;
  }
  if (begin == end) return status;
  AddHole(block, begin, end);
  accounting_.Unmapped(key_, begin, end - begin, chunks_.ranges() - ranges);
  return status;
}

void ExpandableSegment::AddHole(Block* block, DeviceAddress begin, DeviceAddress end) {
  free_.Remove(block);
  Block* hole = Isolate(block, begin, end);
  hole->state = Block::State::kUnmapped;
  if (FreeSize(hole->previous) > 0) free_.Return(hole->previous);
  if (FreeSize(hole->next) > 0) free_.Return(hole->next);
  if (IsHole(hole->next)) {
    holes_.erase(hole->next->address);
    arena_.AbsorbNext(hole);
  }
  if (IsHole(hole->previous)) {
    hole = hole->previous;
    arena_.AbsorbNext(hole);
  }
  holes_.insert_or_assign(hole->address, hole);
}

// Cuts `block` so that one block covers exactly [begin, end); the cuttings keep its state.
Block* ExpandableSegment::Isolate(Block* block, DeviceAddress begin, DeviceAddress end) {
  if (block->address < begin) block = arena_.Split(block, begin - block->address);
  if (end < block->end()) arena_.Split(block, end - begin);
  return block;
}

ExpandableSegment::Chunks ExpandableSegment::WholeChunks(const Block& block) const {
  return chunks_.Inside(IndexOf(block.address + granularity_ - 1), IndexOf(block.end()));
}

Bytes ExpandableSegment::trimmable() const {
  Bytes sum = 0;
  for (const Block* block : free_.NoSmallerThan(granularity_)) {
    for (const ChunkRange chunk : WholeChunks(*block)) sum += chunk.count * granularity_;
  }
  return sum;
}

Bytes ExpandableSegment::Obtainable(Bytes available) const {
  Bytes most = free_.largest();
  for (const auto& [address, hole] : holes_) {
    const Bytes below = FreeSize(hole->previous);
    const Bytes above = FreeSize(hole->next);
    const Bytes fits =
        available < hole->size ? std::max(below, above) + available : below + hole->size + above;
    most = std::max(most, fits);
  }
  return most;
}

std::vector<MappedChunk> ExpandableSegment::ChunksUnder(DeviceAddress address, Bytes size) const {
  std::vector<MappedChunk> under;
  for (const ChunkRange chunk : chunks_.chunks()) {
    const MappedChunk mapped{AddressOf(chunk.first), chunk.count * granularity_,
                             chunks_.SerialOf(chunk.first)};
    if (mapped.address < address + size && address < mapped.address + mapped.size) {
      under.push_back(mapped);
    }
  }
  return under;
}

std::string ExpandableSegment::Picture() const {
  const Chunks chunks = chunks_.chunks();
  return chunks_.Picture(chunks.empty() ? 0 : chunks.back().end());
}

void ExpandableSegment::CheckInvariants() const {
  DeviceAddress at = address_;
  Bytes mapped = 0;
  Bytes free = 0;
  Bytes recent = 0;
  size_t holes = 0;
  const Block* previous = nullptr;
  for (const Block* block = first_; block != nullptr; previous = block, block = block->next) {
    MEMTRACE_CHECK_EQ(block->address, at);
    MEMTRACE_CHECK_EQ(block->previous, previous);
    MEMTRACE_CHECK_EQ(block->segment, this);
    MEMTRACE_CHECK(!IsHole(block) || !IsHole(previous));
    if (IsHole(block)) {
      const auto hole = holes_.find(block->address);
      MEMTRACE_CHECK(hole != holes_.end());
      MEMTRACE_CHECK_EQ(hole->second, block);
      MEMTRACE_CHECK_EQ((block->address - address_) % granularity_, Bytes{0});
      MEMTRACE_CHECK_EQ(block->size % granularity_, Bytes{0});
      const Chunks inside = chunks_.Inside(IndexOf(block->address), IndexOf(block->end()));
      MEMTRACE_CHECK_EQ(inside.size(), size_t{0});
      ++holes;
    } else {
      mapped += block->size;
    }
    free += FreeSize(block);
    if (block->is(Block::State::kRecentlyFreed)) recent += block->size;
    at = block->end();
  }
  MEMTRACE_CHECK_EQ(at, address_ + size_);
  MEMTRACE_CHECK_EQ(holes, holes_.size());
  MEMTRACE_CHECK_EQ(mapped, chunks_.granules() * granularity_);
  MEMTRACE_CHECK_EQ(free, free_.bytes());
  MEMTRACE_CHECK_EQ(recent, recent_.bytes());
  free_.CheckInvariants();
}

}  // namespace memtrace
