// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_HEAP_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_HEAP_H_

#include "base/units.h"
#include "tools/analysis/replay/segment_addresses.h"
#include "tools/analysis/replay/torch/torch_block.h"
#include "tools/analysis/replay/torch/torch_lanes.h"
#include "tools/analysis/replay/torch/torch_segments.h"
#include "tools/analysis/replay/torch/torch_settings.h"
#include "tools/analysis/replay/torch/torch_tiling.h"

namespace memtrace::replay {

// The memory of torch's own allocator on one card: segments and reservations come and go, their
// blocks are free, in use or unmapped, and each free or unmapped one is in its lane's list. The
// policy (TorchPolicy) decides when that happens and what fits on the card.
//
// Thread rule: one thread at a time.
class TorchHeap {
 public:
  // `addresses` outlives the heap.
  TorchHeap(const TorchSettings& settings, SegmentAddresses& addresses)
      : settings_(settings), addresses_(addresses) {}
  TorchHeap(const TorchHeap&) = delete;
  TorchHeap& operator=(const TorchHeap&) = delete;

  // Puts a block that was taken out of its list to use, after cutting off what is not needed.
  void Use(TorchBlock& block, Bytes rounded);
  void Free(TorchBlock& block);
  // Cuts a free block so that one begins at `address`, and returns that one, taken out of the list.
  // Null if what lies there is not free, or ends before `size` bytes.
  TorchBlock* Carve(DeviceAddress address, Bytes size);

  // Adds a fixed segment as one block that is not in the lane's list; removes one whose only block
  // is free.
  TorchBlock* AddSegment(TorchLane& lane, const AddressRange& range);
  void RemoveSegment(TorchSegment& segment);
  // Adds a reservation, all of it unmapped.
  TorchBlock* AddReservation(TorchLane& lane, const AddressRange& range, Bytes chunk);

  // Maps a range of an unmapped block. Returns the free block that then contains it.
  TorchBlock* Map(TorchBlock& unmapped, const AddressRange& range);
  // Unmaps a part of a free block, in whole chunks; a reservation without any mapped memory is
  // given up.
  void Unmap(TorchBlock& free, const AddressRange& range);

  TorchLanes& lanes() { return lanes_; }
  TorchSegments& segments() { return segments_; }
  const TorchSegments& segments() const { return segments_; }
  Bytes reserved() const { return reserved_; }
  Bytes peak_reserved() const { return peak_reserved_; }

  // Aborts if the structures contradict each other. For tests.
  void CheckInvariants() const;

 private:
  TorchSegment& NewSegment(TorchLane& lane, const AddressRange& range, Bytes chunk);
  // Takes a block out of its list and cuts it to the range; only that is then in no list.
  TorchBlock* Isolate(TorchBlock& block, const AddressRange& range);
  void AddReserved(const AddressRange& range);
  Bytes CheckSegment(const TorchSegment& segment) const;  // returns its mapped bytes

  const TorchSettings settings_;
  SegmentAddresses& addresses_;
  TorchLanes lanes_{settings_};
  TorchTiling tiling_{lanes_};
  TorchSegments segments_;
  Bytes reserved_ = 0;
  Bytes peak_reserved_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_HEAP_H_
