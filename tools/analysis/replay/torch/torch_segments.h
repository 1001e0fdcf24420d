// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_SEGMENTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_SEGMENTS_H_

#include <cstdint>
#include <map>
#include <memory>

#include "base/units.h"
#include "tools/analysis/replay/torch/torch_block.h"

namespace memtrace::replay {

// The segments of one card by address. No two begin at the same one. The driver ensures that they
// do not overlap; in a broken trace they may.
//
// Thread rule: one thread at a time.
class TorchSegments {
 public:
  TorchSegments() = default;
  TorchSegments(const TorchSegments&) = delete;
  TorchSegments& operator=(const TorchSegments&) = delete;

  // Adds a segment that has no blocks yet; with a `chunk` it is a reservation. REQUIRES: none
  // begins at the range's address.
  TorchSegment& Add(TorchLane& lane, const AddressRange& range, Bytes chunk);
  void Remove(TorchSegment& segment);

  bool HasOneAt(DeviceAddress base) const { return segments_.contains(base); }
  // Both return what contains the address; null if nothing does.
  TorchSegment* At(DeviceAddress address);
  TorchBlock* BlockAt(DeviceAddress address);
  bool IsMapped(DeviceAddress address);
  // Calls `visit(const TorchSegment&)` with each segment, by address.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [base, segment] : segments_) visit(*segment);
  }

  uint64_t reservations() const { return reservations_; }  // so far
  uint64_t reservations_given_up() const { return reservations_given_up_; }

 private:
  std::map<DeviceAddress, std::unique_ptr<TorchSegment>> segments_;  // by base
  uint32_t next_ordinal_ = 0;
  uint64_t reservations_ = 0;
  uint64_t reservations_given_up_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_SEGMENTS_H_
