// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_GROWTH_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_GROWTH_H_

#include <cstdint>

#include "base/units.h"
#include "tools/analysis/replay/segment_addresses.h"
#include "tools/analysis/replay/torch/torch_heap.h"
#include "tools/analysis/replay/torch/torch_settings.h"

namespace memtrace::replay {

// Takes memory from the driver as torch's own allocator does: a segment for a request that no free
// block serves or, if segments expand, more chunks of a reservation. Reserved memory stays within
// the card and within the fraction of it that the settings allow.
//
// Thread rule: one thread at a time.
class TorchGrowth {
 public:
  struct Options {
    TorchSettings settings;
    Bytes capacity = ~Bytes{0};  // of the card, for this allocator; all ones: no limit
    Bytes card = 0;              // all of the card; 0: not known. Sizes reservations
  };
  // Calls to the driver so far.
  struct Calls {
    uint64_t allocations = 0;
    uint64_t creates = 0;  // of chunks that were also mapped
    uint64_t failed = 0;
    uint64_t accesses = 0;
  };
  static constexpr Bytes kNoLimit = ~Bytes{0};

  // Both outlive it.
  TorchGrowth(const Options& options, TorchHeap& heap, SegmentAddresses& addresses)
      : options_(options), heap_(heap), addresses_(addresses) {}
  TorchGrowth(const TorchGrowth&) = delete;
  TorchGrowth& operator=(const TorchGrowth&) = delete;

  // Returns a free block of at least `rounded` bytes, in no list; null if there is no room for it.
  // What was mapped before a call failed stays, as torch leaves it.
  TorchBlock* Extend(TorchLane& lane, Bytes rounded);
  // True if Extend() would find enough memory that is already mapped.
  bool FindsMappedMemory(TorchLane& lane, Bytes rounded);
  // Adds memory that no request here needed, unless it is there already; if segments expand, a part
  // of a reservation. Counts no call.
  void AddAt(TorchLane& lane, const AddressRange& range);

  // Returns the bytes that may be reserved by the settings' fraction.
  Bytes limit() const;
  const Calls& calls() const { return calls_; }

 private:
  TorchBlock* ExtendBySegment(TorchLane& lane, Bytes size);
  TorchBlock* ExtendReservation(TorchLane& lane, Bytes rounded);
  TorchBlock* FindRoom(TorchLane& lane, Bytes rounded);
  TorchBlock* MapFront(TorchBlock& unmapped, Bytes bytes);
  void MapAt(TorchLane& lane, const AddressRange& range);
  Bytes ReservationSize(Bytes chunk) const;

  const Options options_;
  TorchHeap& heap_;
  SegmentAddresses& addresses_;
  Calls calls_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_GROWTH_H_
