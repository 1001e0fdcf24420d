// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_LANES_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_LANES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/torch/torch_block.h"
#include "tools/analysis/replay/torch/torch_settings.h"

namespace memtrace::replay {

// The lanes of one card, and the choice of a free block of a lane for a request. A lane lists the
// blocks that are free and those that are unmapped; blocks in use are in no list.
//
// A block that is in a list keeps its address, and a free one its size, until it is taken out.
//
// Thread rule: one thread at a time.
class TorchLanes {
 public:
  // `settings` outlive the lanes.
  explicit TorchLanes(const TorchSettings& settings) : settings_(settings) {}
  TorchLanes(const TorchLanes&) = delete;
  TorchLanes& operator=(const TorchLanes&) = delete;

  // Both make the lane if it is new. A lane stays where it is.
  TorchLane& At(uint32_t pool, bool is_small, StreamId stream);
  TorchLane& Of(const Request& request);
  // Visits lanes by pool, the default pool first; in each, large ones before small ones, then by
  // stream.
  void ForEach(const std::function<void(TorchLane&)>& visit);

  // Returns the free block that a request of `rounded` bytes gets; null if there is none.
  TorchBlock* Find(const TorchLane& lane, Bytes rounded) const;

  // Both use the list of the block's state. REQUIRES: the block is free or unmapped.
  void Put(TorchBlock& block);
  void TakeOut(TorchBlock& block);
  bool Lists(const TorchBlock& block) const;  // true if it is in the free list

 private:
  using LaneKey = std::tuple<uint32_t, bool, StreamId>;

  FreeKey KeyOf(TorchBlock& block) const;

  const TorchSettings& settings_;
  std::map<std::pair<uint32_t, bool>, TorchPool> pools_;
  std::map<LaneKey, TorchLane> lanes_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_LANES_H_
