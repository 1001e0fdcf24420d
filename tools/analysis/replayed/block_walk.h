// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_WALK_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_WALK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "absl/container/btree_map.h"
#include "profiler/trace/events/event.h"
#include "tools/analysis/source/moment.h"

namespace memtrace::analysis {

struct WalkedBlock {
  uint64_t number = 0;  // as BlockIndex counts
  trace::Allocate allocation;
  Moment birth;
  bool before_trace = false;  // it lived when recording began
  std::optional<Moment> free_requested;
};

// The second reading of a trace: which block an event is of. Keeps the living blocks only.
class BlockWalk {
 public:
  void Apply(const trace::Event& event);

  // Of the event applied last: the block it allocates, frees or labels; null if it is of none.
  const WalkedBlock* block() const { return block_ ? &*block_ : nullptr; }
  // Blocks that the event ended, if any: one freed, or one whose free was lost (its address was
  // given again).
  const WalkedBlock* ended() const { return ended_ ? &*ended_ : nullptr; }

  // One that was in use until the event: its free was requested or, where no trace has the request,
  // it ended.
  const WalkedBlock* let_go() const { return let_go_ ? &*let_go_ : nullptr; }

  uint64_t ordinal() const { return now_.ordinal; }
  const Moment& now() const { return now_; }

  // In order of device and address.
  void ForEachLiving(const std::function<void(const WalkedBlock&)>& visit) const;
  void ForEachLiving(int32_t device, const std::function<void(const WalkedBlock&)>& visit) const;
  // Those that begin in [begin, end).
  void ForEachLiving(int32_t device, uint64_t begin, uint64_t end,
                     const std::function<void(const WalkedBlock&)>& visit) const;

 private:
  using Blocks = absl::btree_map<uint64_t, WalkedBlock>;

  void Apply(const trace::Allocate& allocation);
  void Apply(const trace::Alive& alive);
  void Apply(const trace::FreeRequested& free);
  void Apply(const trace::FreeCompleted& free);
  void Apply(const trace::Relabel& relabel);
  // Of kinds that change nothing here.
  template <trace::OneOf<trace::Reserve, trace::Map, trace::Unmap, trace::Step, trace::PhaseChange,
                         trace::TagChange, trace::Annotate, trace::OutOfMemory, trace::CardSample,
                         trace::Lost, trace::OutsideAllocate, trace::OutsideFree, trace::Resume,
                         trace::Activity>
                Ignored>
  void Apply(const Ignored&) {}

  std::map<int32_t, Blocks> devices_;
  std::optional<WalkedBlock> block_;
  std::optional<WalkedBlock> ended_;
  std::optional<WalkedBlock> let_go_;
  uint64_t blocks_ = 0;
  Moment now_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_WALK_H_
