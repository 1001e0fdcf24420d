// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/graph_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

std::uint64_t RoomOf(const GraphBlock& block) { return RoundUp(block.bytes, kGranularity); }

std::uint64_t UsedBy(const GraphBlock& block) { return RoundUp(block.bytes, kCut); }

}  // namespace

// Computes the effect of a launch in advance.
class GraphMemory::Balance {
 public:
  explicit Balance(const GraphMemory& memory) : memory_(memory) {
    for (const PoolFigures& figures : memory.figures_) used_.push_back(figures.used);
    peaks_.resize(used_.size());
  }

  // Returns false if a block would be allocated twice, or freed twice.
  bool Change(const GraphBlockPointer& block, bool allocate) {
    if (IsAllocated(block) == allocate) return false;
    states_[block] = allocate;
    const auto device = static_cast<std::size_t>(block->device);
    used_[device] += allocate ? UsedBy(*block) : std::uint64_t{0} - UsedBy(*block);
    peaks_[device] = std::max(peaks_[device], used_[device]);
    return true;
  }

  // Needs no annotation, because Prepare holds the lock.
  bool IsAllocated(const GraphBlockPointer& block) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const auto changed = states_.find(block);
    return changed != states_.end() ? changed->second : memory_.allocated_.contains(block);
  }

  // The most bytes used on each device, after the first allocation there.
  const std::vector<std::uint64_t>& peaks() const { return peaks_; }

 private:
  const GraphMemory& memory_;
  std::map<GraphBlockPointer, bool> states_;  // if they differ from memory_'s
  std::vector<std::uint64_t> used_;
  std::vector<std::uint64_t> peaks_;
};

GraphMemory::GraphMemory(AddressSpace& space, Cards& cards)
    : space_(space), cards_(cards), figures_(cards.size()) {}

Result GraphMemory::Reserve(int device, std::uint64_t bytes, GraphBlockPointer* block) {
  const bool has_device = device >= 0 && static_cast<std::size_t>(device) < cards_.size();
  if (!has_device || bytes == 0) return Result::kInvalidValue;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - kGranularity) return Result::kOutOfMemory;
  Address begin;
  const Result reserved =
      space_.Reserve(RoundUp(bytes, kGranularity), kGranularity, Address(), &begin);
  if (reserved != Result::kSuccess) return reserved;
  const auto forget = [this](GraphBlock* last) {
    Forget(*last);
    delete last;
  };
  *block = GraphBlockPointer(new GraphBlock(begin, bytes, device), forget);
  const MutexLock lock(index_mutex_);
  blocks_[begin] = *block;
  return Result::kSuccess;
}

// Called when the block has no owner left.
void GraphMemory::Forget(const GraphBlock& block) {
  {
    const MutexLock lock(index_mutex_);
    blocks_.erase(block.begin);
  }
  space_.FreeReservation(block.begin, RoomOf(block));
}

GraphBlockPointer GraphMemory::Find(Address begin) const {
  const MutexLock lock(index_mutex_);
  const auto found = blocks_.find(begin);
  return found == blocks_.end() ? nullptr : found->second.lock();
}

// REQUIRES: the lock is held.
Result GraphMemory::Charge(int device, std::uint64_t peak) {
  PoolFigures& figures = At(device);
  const std::uint64_t wanted = RoundUp(peak, kGranularity);
  if (wanted <= figures.reserved) return Result::kSuccess;
  Card& card = *cards_[static_cast<std::size_t>(device)];
  if (!card.Charge(ChargeKind::kRuntime, wanted - figures.reserved)) return Result::kOutOfMemory;
  figures.reserved = wanted;
  figures.reserved_high = std::max(figures.reserved_high, figures.reserved);
  return Result::kSuccess;
}

Result GraphMemory::Prepare(std::span<const GraphMemoryStep> steps, bool frees_first) {
  const MutexLock lock(mutex_);
  Balance balance(*this);
  std::vector<GraphBlockPointer> left;  // allocated by an earlier launch
  for (const GraphMemoryStep& step : steps) {
    if (frees_first && !step.frees && balance.Change(step.block, false)) left.push_back(step.block);
  }
  for (const GraphMemoryStep& step : steps) {
    if (!balance.Change(step.block, !step.frees)) return Result::kInvalidValue;
  }
  for (std::size_t device = 0; device < cards_.size(); ++device) {
    const Result charged = Charge(static_cast<int>(device), balance.peaks()[device]);
    if (charged != Result::kSuccess) return charged;
  }
  for (const GraphBlockPointer& block : left) FreeLocked(block);
  return Result::kSuccess;
}

Result GraphMemory::Allocate(const GraphBlockPointer& block) {
  const MutexLock lock(mutex_);
  if (allocated_.contains(block)) return Result::kInvalidValue;
  // Charged again, because two simultaneous launches may have been prepared for less than both
  // need.
  const Result charged = Charge(block->device, At(block->device).used + UsedBy(*block));
  return charged == Result::kSuccess ? AllocateLocked(block) : charged;
}

Result GraphMemory::AllocateLocked(const GraphBlockPointer& block) {
  const std::uint64_t room = RoomOf(*block);
  HandleId handle = 0;
  // Only contents are created: the card is charged for all blocks together.
  const Result created =
      space_.physical().Create(block->device, room, ChargeKind::kContext, &handle);
  if (created != Result::kSuccess) return created;
  space_.Map(block->begin, room, 0, handle);
  space_.SetAccess(block->begin, room, block->device, Access::kReadWrite);
  space_.physical().Release(handle);
  allocated_.insert(block);
  PoolFigures& figures = At(block->device);
  figures.used += UsedBy(*block);
  figures.used_high = std::max(figures.used_high, figures.used);
  return Result::kSuccess;
}

Result GraphMemory::FreeLocked(const GraphBlockPointer& block) {
  if (allocated_.erase(block) == 0) return Result::kInvalidValue;
  At(block->device).used -= UsedBy(*block);
  return space_.Unmap(block->begin, RoomOf(*block));
}

Result GraphMemory::Free(const GraphBlockPointer& block) {
  const MutexLock lock(mutex_);
  return FreeLocked(block);
}

Result GraphMemory::FreeOutside(Address begin, GraphBlockPointer* freed) {
  *freed = Find(begin);
  if (*freed == nullptr || (*freed)->is_freed_by_owner) return Result::kInvalidValue;
  return Free(*freed);
}

void GraphMemory::Trim(int device) {
  const MutexLock lock(mutex_);
  PoolFigures& figures = At(device);
  const std::uint64_t stays = RoundUp(figures.used, kGranularity);
  cards_[static_cast<std::size_t>(device)]->Discharge(ChargeKind::kRuntime,
                                                      figures.reserved - stays);
  figures.reserved = stays;
}

PoolFigures GraphMemory::Figures(int device) const {
  const MutexLock lock(mutex_);
  return figures_[static_cast<std::size_t>(device)];
}

void GraphMemory::ResetHighMarks(int device, bool reserved, bool used) {
  const MutexLock lock(mutex_);
  PoolFigures& figures = At(device);
  if (reserved) figures.reserved_high = figures.reserved;
  if (used) figures.used_high = figures.used;
}

}  // namespace memtrace::card
