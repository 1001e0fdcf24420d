// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_POLICY_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_POLICY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/units.h"
#include "tools/analysis/replay/driver_segments.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/torch_heap.h"
#include "tools/analysis/replay/torch_settings.h"

namespace memtrace::replay {

// torch's own allocator, written from its rules (docs/replay.md): torch-native, or torch-expandable
// where `settings.expands`.
class TorchPolicy : public Policy {
 public:
  struct Options {
    TorchSettings settings;
    Bytes capacity = ~Bytes{0};  // of the card, for this allocator; all ones: no limit
    Bytes card = 0;              // all of the card; 0: not known. Sizes reservations
  };

  // Without `addresses`, segments ascend; it outlives the policy.
  explicit TorchPolicy(const Options& options, SegmentAddresses* addresses = nullptr);

  std::optional<Placed> Allocate(const Request& request) override;
  void Free(BlockNumber block) override;
  void RequestFree(BlockNumber block) override;
  void CompleteFree(BlockNumber block) override;
  void EmptyCache() override;

  Bytes peak_allocated() const override { return peak_allocated_; }
  Bytes peak_reserved() const override { return peak_reserved_; }
  DriverCalls calls() const override;

  // What follows keeps a replay at what was recorded.

  bool HasFree(const Request& request);  // so that nothing is asked of the driver
  bool CanGrow(const Request& request);  // its pool has a reservation
  // The pool's blocks are whole segments.
  void NeverSplit(const Request& request) { LaneOf(request).pool->is_split = false; }
  // Whether growth would find enough that is mapped already.
  bool GrowsIntoMapped(const Request& request);
  // As a request goes on after the cache was emptied for it: torch does not look at its free
  // blocks again.
  std::optional<Placed> AllocateByGrowth(const Request& request);
  // A block where it was recorded; nothing if that is not free.
  std::optional<Placed> AllocateAt(const Request& request, DeviceAddress address,
                                   std::optional<Bytes> occupied = std::nullopt);
  // Memory that nobody here asked for. `is_expandable`: a part of a reservation.
  void AddRecorded(const AddressRange& range, StreamId stream, uint32_t pool, bool is_small,
                   bool is_expandable);
  // False if it is not free here.
  bool RemoveRecorded(const AddressRange& range);

  TorchHeap& heap() { return heap_; }

 private:
  struct Live {
    TorchBlock* block = nullptr;  // null: freed early, or not in use
    bool is_waiting = false;      // for the streams that used it
  };
  struct Calls {
    uint64_t allocations = 0;
    uint64_t frees = 0;
    uint64_t creates = 0;  // of chunks that were mapped, too
    uint64_t failed = 0;
    uint64_t accesses = 0;
    uint64_t unmaps = 0;
  };

  TorchLane& LaneOf(const Request& request);
  std::optional<Placed> Finish(TorchBlock* block, Bytes rounded);
  TorchBlock* Grow(TorchLane& lane, Bytes rounded);
  TorchBlock* Extend(TorchLane& lane, Bytes rounded);
  TorchBlock* ExtendBySegment(TorchLane& lane, Bytes size);
  TorchBlock* ExtendReservation(TorchLane& lane, Bytes rounded);
  TorchBlock* FindRoom(TorchLane& lane, Bytes rounded);
  TorchBlock* MapFront(TorchBlock& unmapped, Bytes bytes);
  Bytes ReservationSize(Bytes chunk) const;

  void CollectGarbage();
  bool ReleaseOversize(TorchLane& lane, Bytes rounded);
  void ReleaseCached();
  void ReleaseLane(TorchLane& lane);
  void ReleaseSegment(TorchSegment& segment);
  void UnmapPart(TorchBlock& block, const AddressRange& range);

  Bytes limit() const;
  bool collects_garbage() const;
  void NoteReserved() { peak_reserved_ = std::max(peak_reserved_, heap_.reserved()); }
  Placed Note(TorchBlock& block);
  void GiveBack(Live& live);

  const Options options_;
  DriverSegments driver_;
  TorchHeap heap_;
  std::vector<Live> live_;
  std::vector<BlockNumber> spare_numbers_;
  absl::flat_hash_set<BlockNumber> waiting_;
  Calls calls_;
  Bytes allocated_ = 0;
  Bytes peak_allocated_ = 0;
  Bytes peak_reserved_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_POLICY_H_
