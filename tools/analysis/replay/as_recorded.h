// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_AS_RECORDED_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_AS_RECORDED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replay/placement_sink.h"
#include "tools/analysis/replay/pool_guess.h"
#include "tools/analysis/replay/recorded_run.h"
#include "tools/analysis/replay/recorded_torch.h"
#include "tools/analysis/replay/torch/torch_policy.h"
#include "tools/analysis/replayed/block_lives.h"

namespace memtrace::replay {

// Replays one card's events with the policy that they were recorded with. The policy decides where
// each block goes and when memory is requested from the driver; the driver's addresses, and when
// memory is given back, are the recorded ones. A block that went elsewhere is counted and put where
// it was recorded, so that each placement is judged by itself.
//
// Thread rule: one thread at a time.
class AsRecorded {
 public:
  // `run` and `sink` outlive it.
  AsRecorded(const RecordedRun& run, int32_t device, const PlacementSink& sink);

  void See(const trace::Event& event);

  const TorchPolicy& policy() const { return torch_.policy(); }
  uint64_t allocations() const { return allocations_; }
  // Allocations of these in memory that the trace says to be mapped; the others lie in segments
  // that are older than the trace.
  uint64_t compared() const { return compared_; }
  uint64_t placed() const { return placed_; }  // as recorded
  uint64_t failures() const { return failures_; }
  uint32_t guessed_pools() const { return pools_.pools(); }

 private:
  // Empty for a block that has no place.
  using Lives = analysis::BlockLives<std::optional<BlockNumber>>;

  // Ignores events that change nothing here.
  template <trace::OneOf<trace::Reserve, trace::Relabel, trace::Step, trace::PhaseChange,
                         trace::TagChange, trace::Annotate, trace::CardSample, trace::Lost,
                         trace::OutsideAllocate, trace::OutsideFree, trace::Activity, trace::Moved>
                Ignored>
  void Apply(uint64_t, const Ignored&) {}
  void Apply(uint64_t sequence, const Lives::Born& born);
  void Apply(uint64_t sequence, const Lives::Found& found);
  void Apply(uint64_t sequence, const Lives::LetGo& let_go);
  void Apply(uint64_t sequence, const Lives::Ended& ended);
  void Apply(uint64_t sequence, const Lives::Stray& stray);
  void Apply(uint64_t sequence, const trace::Resume& begin);
  void Apply(uint64_t sequence, const trace::Map& map);
  void Apply(uint64_t sequence, const trace::Unmap& unmap);
  void Apply(uint64_t sequence, const trace::OutOfMemory& failure);

  // A free that completed or memory that was given back, kept until it is known what it was for.
  struct Release {
    bool is_memory = false;  // else a block
    AddressRange range;
    std::optional<BlockNumber> block;
  };
  void RequestFree(DeviceAddress address, const std::optional<BlockNumber>& block);
  void EndFree(DeviceAddress address, const std::optional<BlockNumber>& block);
  void Defer(const Release& release);
  void ApplyPending(bool memory_too = true);
  void ApplyPendingAt(DeviceAddress address);
  // The state when a block was requested, before deferred releases were carried out.
  struct Before {
    bool fitted = false;
    bool fitted_after_frees = false;
    bool gave_back = false;
    bool gave_memory_back = false;
  };
  Before ApplyPendingFor(const Request& request);
  Before FindPool(const trace::Allocate& block, Request& request);
  std::optional<Placed> Predict(const Request& request, const Before& before);
  std::optional<Placed> Judge(const trace::Allocate& block, const Request& request,
                              const Before& before);
  void CompleteFree(std::optional<BlockNumber>& block);
  void Settle(uint32_t pool);

  const int32_t device_;
  const PlacementSink& sink_;
  RecordedTorch torch_;
  PoolGuess pools_{torch_};
  const bool says_pools_;
  Lives lives_;
  std::vector<Release> deferred_;
  DeviceAddress free_requested_;  // set if the previous event requested this free
  bool has_failed_once_ = false;  // the next request got some memory, and then none
  bool is_beginning_ = false;     // mapped memory is being restated, without requests
  uint64_t allocations_ = 0;
  uint64_t compared_ = 0;
  uint64_t placed_ = 0;
  uint64_t failures_ = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_AS_RECORDED_H_
