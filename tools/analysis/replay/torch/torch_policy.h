// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_POLICY_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_POLICY_H_

#include <optional>

#include "base/units.h"
#include "tools/analysis/replay/driver_segments.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/torch/torch_cache.h"
#include "tools/analysis/replay/torch/torch_growth.h"
#include "tools/analysis/replay/torch/torch_heap.h"
#include "tools/analysis/replay/torch/torch_live_blocks.h"
#include "tools/analysis/replay/torch/torch_settings.h"

namespace memtrace::replay {

// torch's own allocator, written from its rules (docs/design/replay.md): torch-native, or
// torch-expandable if `settings.expands`. It decides in which order free blocks, the driver and the
// cache are tried. Its parts do the rest; a replay that stays on the recorded course uses them
// itself (RecordedTorch).
class TorchPolicy : public Policy {
 public:
  using Options = TorchGrowth::Options;

  static constexpr Bytes kMostBytes = Bytes{1} << 50;  // no card is so large

  // Without `addresses`, they are those of DriverSegments. `addresses` outlives the policy.
  explicit TorchPolicy(const Options& options, SegmentAddresses* addresses = nullptr);

  std::optional<Placed> Allocate(const Request& request) override;
  void Free(BlockNumber block) override;
  void RequestFree(BlockNumber block) override;
  void CompleteFree(BlockNumber block) override;
  void EmptyCache() override;

  Bytes peak_allocated() const override { return blocks_.peak_allocated(); }
  Bytes peak_reserved() const override { return heap_.peak_reserved(); }
  DriverCalls calls() const override;

  const TorchSettings& settings() const { return settings_; }
  TorchHeap& heap() { return heap_; }
  TorchGrowth& growth() { return growth_; }
  TorchCache& cache() { return cache_; }
  TorchLiveBlocks& blocks() { return blocks_; }

 private:
  TorchBlock* Grow(TorchLane& lane, Bytes rounded);
  bool collects_garbage() const;
  void CollectGarbage();

  const TorchSettings settings_;
  DriverSegments driver_;
  TorchHeap heap_;
  TorchGrowth growth_;
  TorchCache cache_{settings_, heap_};
  TorchLiveBlocks blocks_{heap_};
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_POLICY_H_
