// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/native_observer.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "interpose/core/memtrace.h"
#include "interpose/torch/autograd_context.h"
#include "interpose/torch/host_values/host_values.h"
#include "interpose/torch/mempool_id.h"
#include "interpose/torch/native_sizes.h"
#include "versioned_entries.h"
#include "versioned_observing.h"

namespace memtrace::shim {
namespace {

namespace native = c10::cuda::CUDACachingAllocator;
using Entry = TraceEntry;

// Returns -1 for an event that is not passed on.
int ObservedKind(Entry::Action action) {
  switch (action) {
    case Entry::ALLOC:
      return MEMTRACE_OBSERVED_ALLOCATE;
    case Entry::FREE_REQUESTED:
      return MEMTRACE_OBSERVED_FREE_REQUESTED;
    case Entry::FREE_COMPLETED:
      return MEMTRACE_OBSERVED_FREE_COMPLETED;
    case Entry::SEGMENT_ALLOC:
    case Entry::SEGMENT_MAP:
      return MEMTRACE_OBSERVED_MAP;
    case Entry::SEGMENT_FREE:
    case Entry::SEGMENT_UNMAP:
      return MEMTRACE_OBSERVED_UNMAP;
    default:
      return -1;
  }
}

// torch gathers the context of an allocation before it takes its lock, on the allocating thread; it
// calls its trace tracker under the lock, where Python's lock must not be waited for. So the stack
// is taken here and joined with its event below.
thread_local uint64_t context_of_the_next_event = 0;

std::shared_ptr<c10::GatheredContext> CaptureContext() {
  context_of_the_next_event = memtrace_capture_context();
  return nullptr;  // snapshots then have no frames, as without history
}

uint64_t TakeContext() { return std::exchange(context_of_the_next_event, 0); }

// Has one element a card; made before the first event, and never destroyed, because events come
// until the very end.
std::vector<NativeSizes>& SizesOfCards() {
  static auto& sizes = *new std::vector<NativeSizes>;
  return sizes;
}

void AddSize(memtrace_observed& event, const Entry& entry) {
  auto& sizes = SizesOfCards()[static_cast<size_t>(entry.device_)];
  if (entry.action_ != Entry::ALLOC) return sizes.Note(entry);
  const NativeSizes::Size size = sizes.Of(entry);
  event.occupied = size.occupied;
  event.unsplit = size.unsplit;
}

// Runs under the allocator's lock, so it must not wait for the interpreter.
void Pass(const Entry& entry) {
  const int kind = ObservedKind(entry.action_);
  if (kind < 0) return;
  memtrace_observed event{};
  event.size = sizeof(event);
  event.kind = kind;
  event.device = int32_t{entry.device_};
  event.address = entry.addr_;
  event.bytes = entry.size_;
  event.stream = reinterpret_cast<uint64_t>(entry.stream_);
  event.is_segment = entry.action_ == Entry::SEGMENT_ALLOC ? 1 : 0;
  const MempoolId_t pool = PoolOf(entry);
  event.pool_first = pool.first;
  event.pool_second = pool.second;
  AddSize(event, entry);
  if (kind == MEMTRACE_OBSERVED_ALLOCATE) {
    event.context = TakeContext();
    ForgetFreshMemory(entry.addr_, entry.size_);
  }
  memtrace_observe(&event);
}

void ReportOutOfMemory(int64_t device, size_t requested, size_t total, size_t free) {
  const auto stats = native::get()->getDeviceStats(static_cast<c10::DeviceIndex>(device));
  memtrace_observed_out_of_memory event{};
  event.size = sizeof(event);
  event.device = static_cast<int32_t>(device);
  event.requested = requested;
  event.context = TakeContext();
  event.device_free = free;
  event.device_total = total;
  event.limit = ~uint64_t{0};
  event.reserved = static_cast<uint64_t>(stats.reserved_bytes[0].current);
  event.active = static_cast<uint64_t>(stats.active_bytes[0].current);
  event.allocated = static_cast<uint64_t>(stats.allocated_bytes[0].current);
  event.inactive_split = static_cast<uint64_t>(stats.inactive_split_bytes[0].current);
  memtrace_observe_out_of_memory(&event);
}

using Segment = SegmentInfo;
using Block = BlockInfo;

memtrace_observed PartOf(const Segment& segment, memtrace_observed_kind kind, uint64_t address,
                         uint64_t bytes) {
  memtrace_observed event{};
  event.size = sizeof(event);
  event.kind = kind;
  event.device = int32_t{segment.device};
  event.address = address;
  event.bytes = bytes;
  event.stream = reinterpret_cast<uint64_t>(segment.stream);
  event.pool_first = segment.owner_private_pool_id.first;
  event.pool_second = segment.owner_private_pool_id.second;
  return event;
}

void ReportBlock(const Segment& segment, const Block& block, uint64_t address) {
  auto event = PartOf(segment, MEMTRACE_OBSERVED_ALLOCATE, address, block.requested_size);
  event.occupied = block.size;
  event.unsplit = segment.is_large ? 1 : 0;  // the segment's next bytes are not the block's rest
  memtrace_observe(&event);
  if (block.allocated) return;
  event.kind = MEMTRACE_OBSERVED_FREE_REQUESTED;
  memtrace_observe(&event);
}

// Passes on the segments and blocks that exist already, because observing may begin late.
void ReportExistingMemory() {
  for (const Segment& segment : native::snapshot().segments) {
    auto mapped = PartOf(segment, MEMTRACE_OBSERVED_MAP, segment.address, segment.total_size);
    mapped.is_segment = segment.is_expandable ? 0 : 1;
    memtrace_observe(&mapped);
    uint64_t address = segment.address;
    for (const Block& block : segment.blocks) {
      if (block.active) ReportBlock(segment, block, address);
      address += block.size;
    }
  }
}

}  // namespace

bool ObserveNativeAllocator(int device_count) {
  FollowAutograd();
  if (memtrace_start(device_count, MEMTRACE_MODE_OBSERVE) != MEMTRACE_OK) return false;
  SizesOfCards().resize(static_cast<size_t>(device_count));
  ReportExistingMemory();
  native::attachAllocatorTraceTracker(&Pass);
  native::attachOutOfMemoryObserver(&ReportOutOfMemory);
  // If the program has switched on torch's own history, or does so later, the history is the
  // program's, and our events go on without stacks.
  if (!native::isHistoryEnabled()) GatherContexts(&CaptureContext);
  return true;
}

}  // namespace memtrace::shim
