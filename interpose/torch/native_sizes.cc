// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/native_sizes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/units.h"
#include "interpose/torch/allocator_settings.h"
#include "versioned_settings.h"

namespace memtrace::shim {
namespace {

namespace native = c10::cuda::CUDACachingAllocator;

constexpr uint64_t kUnit = 512;
constexpr uint64_t kLargestSmall = 1 << 20;
constexpr uint64_t kLargestRest = 1 << 20;  // for a large block
constexpr uint64_t kEverything = std::numeric_limits<uint64_t>::max();

uint64_t Rounded(size_t bytes) {
  return RoundUp(std::max<uint64_t>(BytesByDivisions(bytes), kUnit), kUnit);
}

bool IsPrivate(const NativeSizes::Entry& entry) { return PoolOf(entry) != MempoolId_t{}; }

// A private pool's segments may come from an allocator of its own, and then do not expand. If they
// do expand, the result is not used.
uint64_t Unsplit(const NativeSizes::Entry& allocation, uint64_t occupied) {
  if (occupied <= kLargestSmall) return 0;
  if (VersionedSettings::HasExpandableSegments() && !IsPrivate(allocation)) return kUnit - 1;
  return occupied < VersionedSettings::LargestSplit() ? kLargestRest : kEverything;
}

// May be called under the allocator's lock, which is recursive.
int64_t Splits(c10::DeviceIndex device) {
  return native::get()->getDeviceStats(device).inactive_split[0].current;
}

}  // namespace

NativeSizes::Size NativeSizes::Of(const Entry& allocation) {
  const uint64_t occupied = Rounded(allocation.size_);
  if (!IsPrivate(allocation)) return {occupied, Unsplit(allocation, occupied)};
  InferPoolSplitting(allocation, occupied);
  const bool is_whole = unsplit_pools_.count(PoolOf(allocation)) != 0;
  return {occupied, is_whole ? kEverything : Unsplit(allocation, occupied)};
}

// A segment is split, if at all, before its first block is reported.
void NativeSizes::InferPoolSplitting(const Entry& allocation, uint64_t occupied) {
  const uint64_t segment = std::exchange(new_segment_, 0);
  const uint64_t rest = segment > occupied ? segment - occupied : 0;
  if (rest == 0 || rest <= Unsplit(allocation, occupied)) return;
  if (Splits(allocation.device_) == splits_before_) unsplit_pools_.insert(PoolOf(allocation));
}

void NativeSizes::Note(const Entry& entry) {
  new_segment_ = 0;
  if (entry.action_ != Entry::SEGMENT_ALLOC || !IsPrivate(entry)) return;
  new_segment_ = entry.size_;
  splits_before_ = Splits(entry.device_);
}

}  // namespace memtrace::shim
