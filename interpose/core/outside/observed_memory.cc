// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/observed_memory.h"

#include <iterator>

#include "base/mutex.h"

namespace memtrace {
namespace {

constexpr Bytes kTorchRounding = 512;

// Observing may begin late, so memory may be freed or unmapped whose allocation was not seen. Also,
// figures that torch gives one after the other need not agree.
Bytes Remaining(Bytes from, Bytes bytes) { return from > bytes ? from - bytes : 0; }
void Subtract(Bytes& from, Bytes bytes) { from = Remaining(from, bytes); }

}  // namespace

Bytes ObservedMemory::Occupied(const memtrace_observed& event) {
  const DeviceAddress address{event.address};
  const Bytes usual = RoundUp(event.bytes, kTorchRounding);
  if (event.kind != MEMTRACE_OBSERVED_ALLOCATE) return segments_.Occupied(address, usual);
  const Bytes least = event.occupied == 0 ? usual : event.occupied;
  return segments_.Take(address, usual, least, event.unsplit);
}

void ObservedMemory::Note(const memtrace_observed& event) {
  const MutexLock lock(mutex_);
  switch (event.kind) {
    case MEMTRACE_OBSERVED_ALLOCATE:
    case MEMTRACE_OBSERVED_FREE_REQUESTED:
    case MEMTRACE_OBSERVED_FREE_COMPLETED:
      return NoteBlock(event);
    case MEMTRACE_OBSERVED_MAP:
    case MEMTRACE_OBSERVED_UNMAP:
      return NoteRange(event);
    default:
      return;
  }
}

void ObservedMemory::NoteBlock(const memtrace_observed& event) {
  const Bytes occupied = Occupied(event);
  const BlockEvent block{.device = device_,
                         .stream = StreamId{event.stream},
                         .pool = {event.pool_first, event.pool_second},
                         .address = DeviceAddress{event.address},
                         .requested = event.bytes,
                         .allocated = occupied,
                         .context = ContextId{event.context}};
  switch (event.kind) {
    case MEMTRACE_OBSERVED_ALLOCATE:
      sums_.live_requested += event.bytes;
      sums_.live_allocated += occupied;
      return recorder_.Allocated(block);
    case MEMTRACE_OBSERVED_FREE_REQUESTED:
      Subtract(sums_.live_requested, event.bytes);
      Subtract(sums_.live_allocated, occupied);
      sums_.stream_wait += occupied;
      return recorder_.FreeRequested(block);
    default:
      Subtract(sums_.stream_wait, occupied);
      segments_.GiveBack(block.address);
      return recorder_.FreeCompleted(block);
  }
}

void ObservedMemory::NoteRange(const memtrace_observed& event) {
  const RangeEvent range{.device = device_,
                         .stream = StreamId{event.stream},
                         .pool = {event.pool_first, event.pool_second},
                         .address = DeviceAddress{event.address},
                         .size = event.bytes};
  if (event.kind == MEMTRACE_OBSERVED_MAP) {
    sums_.reserved += event.bytes;
    if (event.is_segment != 0) {
      segments_.Add(range.address, range.size);
    } else {
      NoteGrowth(range);
    }
    return recorder_.Mapped(range);
  }
  Subtract(sums_.reserved, event.bytes);
  segments_.Remove(range.address);
  recorder_.Unmapped(range);
}

// A segment that grows is mapped and unmapped piece by piece. torch does not tell where its address
// range ends, so the trace shows it as far as it has been used.
void ObservedMemory::NoteGrowth(const RangeEvent& range) {
  const DeviceAddress end = range.address + range.size;
  auto grown = growing_.upper_bound(range.address);
  const bool goes_on = grown != growing_.begin() && std::prev(grown)->second >= range.address;
  grown = goes_on ? std::prev(grown) : growing_.emplace(range.address, range.address).first;
  if (end <= grown->second) return;
  grown->second = end;
  RangeEvent whole = range;
  whole.address = grown->first;
  whole.size = end - grown->first;
  recorder_.Reserved(whole);
}

AllocatorLedger ObservedMemory::ledger() const {
  const MutexLock lock(mutex_);
  AllocatorLedger ledger = sums_;
  if (caches_ == Caches::kNothing) ledger.reserved = ledger.live_allocated + ledger.stream_wait;
  ledger.cached = Remaining(ledger.reserved, ledger.live_allocated + ledger.stream_wait);
  return ledger;
}

AllocatorLedger ObservedMemory::LedgerOf(const memtrace_observed_out_of_memory& event) const {
  AllocatorLedger ledger;
  {
    const MutexLock lock(mutex_);
    ledger.live_requested = sums_.live_requested;
  }
  ledger.reserved = event.reserved;
  ledger.live_allocated = event.allocated;
  ledger.stream_wait = Remaining(event.active, event.allocated);
  ledger.holes = event.inactive_split;
  ledger.cached = Remaining(event.reserved, event.active + event.inactive_split);
  return ledger;
}

}  // namespace memtrace
