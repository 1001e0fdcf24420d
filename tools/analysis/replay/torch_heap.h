// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_HEAP_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_HEAP_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "tools/analysis/replay/segment_addresses.h"
#include "tools/analysis/replay/torch_block.h"
#include "tools/analysis/replay/torch_settings.h"

namespace memtrace::replay {

// Segments and blocks of torch's own allocator on one card: which free block a request gets, how
// blocks are split and merged, how segments come and go. When they do is the policy's affair
// (TorchPolicy), as is what fits on the card.
//
// Thread rule: one thread at a time.
class TorchHeap {
 public:
  // `addresses` outlives the heap.
  TorchHeap(const TorchSettings& settings, SegmentAddresses& addresses)
      : settings_(settings), addresses_(addresses) {}
  TorchHeap(const TorchHeap&) = delete;
  TorchHeap& operator=(const TorchHeap&) = delete;

  TorchLane& Lane(uint32_t pool, bool is_small, StreamId stream);

  // The free block that a request of `rounded` bytes gets; null: none.
  TorchBlock* Find(const TorchLane& lane, Bytes rounded) const;
  // Cuts what is not needed off a block that was taken out of its list, and has it in use.
  void Use(TorchBlock& block, Bytes rounded);
  void Free(TorchBlock& block);

  // Fixed segments: one block, not in the lane's list; and the end of one whose only block is free.
  TorchBlock* AddSegment(TorchLane& lane, const AddressRange& range);
  void RemoveSegment(TorchSegment& segment);
  // A reservation, all of it unmapped.
  TorchBlock* AddReservation(TorchLane& lane, const AddressRange& range, Bytes chunk);

  // Maps the first `size` bytes of an unmapped block; the free block they are part of then.
  TorchBlock* Map(TorchBlock& unmapped, Bytes size);
  // The unmapped block behind the first `size` bytes of one.
  TorchBlock* CutUnmapped(TorchBlock& unmapped, Bytes size);
  // Takes memory from a part of a free block; a reservation without any is given up. How much that
  // is, in whole chunks inside the block: WholeChunks().
  void Unmap(TorchBlock& free, const AddressRange& range);
  static AddressRange WholeChunks(const TorchBlock& free);

  void PutFree(TorchBlock& block);  // into its lane's list
  void TakeOut(TorchBlock& block);

  // Large ones before small ones, the default pool first, by stream.
  void ForEachLane(const std::function<void(TorchLane&)>& visit);
  TorchSegment* SegmentAt(DeviceAddress address);  // that contains it; null: none
  TorchBlock* BlockAt(DeviceAddress address);      // likewise
  bool IsMapped(DeviceAddress address);
  // Cuts a free block so that one begins at `address`; that one, taken out of the list. Null if
  // what lies there is not free, or ends before `size` bytes.
  TorchBlock* Carve(DeviceAddress address, Bytes size);

  const TorchSettings& settings() const { return settings_; }
  SegmentAddresses& addresses() { return addresses_; }
  Bytes reserved() const { return reserved_; }
  uint64_t reservations() const { return reservations_; }
  uint64_t reservations_given_up() const { return reservations_given_up_; }

  // Aborts if the structures contradict each other. For tests.
  void CheckInvariants() const;

 private:
  using LaneKey = std::tuple<uint32_t, bool, StreamId>;

  FreeKey KeyOf(TorchBlock& block) const;
  TorchBlock* NewBlock(const TorchBlock& like);
  void Drop(TorchBlock* block);
  TorchSegment& NewSegment(TorchLane& lane, const AddressRange& range, Bytes chunk);
  // The block that begins `size` bytes further on; of the same state, in no list.
  TorchBlock* CutAt(TorchBlock& block, Bytes size);
  // With its neighbours, where they are of its state; they leave their lists.
  TorchBlock* Merge(TorchBlock* block);
  void Join(TorchBlock& block, TorchBlock* behind);
  void PutUnmapped(TorchBlock& block);

  const TorchSettings settings_;
  SegmentAddresses& addresses_;
  std::map<std::pair<uint32_t, bool>, TorchPool> pools_;
  std::map<LaneKey, TorchLane> lanes_;
  std::map<DeviceAddress, std::unique_ptr<TorchSegment>> segments_;  // by base
  std::deque<TorchBlock> blocks_;
  std::vector<TorchBlock*> spare_blocks_;
  uint32_t next_ordinal_ = 0;
  Bytes reserved_ = 0;
  uint64_t reservations_ = 0;
  uint64_t reservations_given_up_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_HEAP_H_
