// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/trace_trackers.h"

#include <c10/util/ApproximateClock.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "interpose/core/memtrace.h"
#include "interpose/torch/core_calls.h"

namespace memtrace::shim {
namespace {

using c10::cuda::CUDACachingAllocator::AllocatorTraceTracker;
using c10::cuda::CUDACachingAllocator::TraceEntry;
using Trackers = std::vector<AllocatorTraceTracker>;

// The list is replaced, never changed: it is read under the cards' locks, where no other may be
// taken that a tracker's owner could hold. The old ones, one a call of torch's, are kept.
std::atomic<const Trackers*> trackers = nullptr;

TraceEntry::Action ToTorch(int kind) {
  switch (kind) {
    case MEMTRACE_CHANGE_ALLOCATED:
      return TraceEntry::ALLOC;
    case MEMTRACE_CHANGE_FREE_REQUESTED:
      return TraceEntry::FREE_REQUESTED;
    case MEMTRACE_CHANGE_FREE_COMPLETED:
      return TraceEntry::FREE_COMPLETED;
    case MEMTRACE_CHANGE_MAPPED:
      return TraceEntry::SEGMENT_MAP;
    default:
      return TraceEntry::SEGMENT_UNMAP;
  }
}

void Tell(void* /*user*/, const memtrace_change* change) {
  const TraceEntry entry(ToTorch(change->kind), static_cast<c10::DeviceIndex>(change->device),
                         change->address, change->bytes, reinterpret_cast<void*>(change->stream),
                         c10::MempoolId_t{0, 0}, c10::getApproximateTime());
  for (const auto& tracker : *trackers.load(std::memory_order_acquire)) tracker(entry);
}

}  // namespace

void AttachTraceTracker(AllocatorTraceTracker tracker) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const Trackers* before = trackers.load(std::memory_order_acquire);
  auto* all = before == nullptr ? new Trackers : new Trackers(*before);
  all->push_back(std::move(tracker));
  trackers.store(all, std::memory_order_release);
  if (before == nullptr) ThrowUnlessOk(memtrace_watch(&Tell, nullptr));
}

}  // namespace memtrace::shim
