// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_WALK_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_WALK_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/block_lives.h"
#include "tools/analysis/replayed/block_slots.h"
#include "tools/analysis/source/moment.h"

namespace memtrace::analysis {

struct WalkedBlock {
  uint64_t number = 0;  // as BlockIndex counts
  trace::Allocate allocation;
  Moment birth;
  bool before_trace = false;  // it lived when recording began
  std::optional<Moment> free_requested;
};

// The second reading of a trace, which tells the block of each event. Keeps only the living blocks.
// Pointers that it returns are valid until the next event.
class BlockWalk {
 public:
  void Apply(const trace::Event& event);

  // Returns the block that the latest event allocates, frees or labels; null if there is none.
  const WalkedBlock* block() const { return At(block_); }
  // Returns the block that the event ended: one that was freed, or one whose free was lost (its
  // address was given out again). Null if there is none.
  const WalkedBlock* ended() const { return At(ended_); }
  // Returns the block that was in use until the event: its free was requested or, if the trace
  // lacks the request, it ended. Null if there is none.
  const WalkedBlock* let_go() const { return At(let_go_); }

  uint64_t ordinal() const { return now_.ordinal; }
  const Moment& now() const { return now_; }

  // Visits the living blocks in order of device and address.
  void ForEachLiving(const std::function<void(const WalkedBlock&)>& visit) const;
  void ForEachLiving(int32_t device, const std::function<void(const WalkedBlock&)>& visit) const;
  // Visits the living blocks that begin in [begin, end).
  void ForEachLiving(int32_t device, uint64_t begin, uint64_t end,
                     const std::function<void(const WalkedBlock&)>& visit);

 private:
  using Lives = BlockLives<BlockId>;

  void Apply(const Lives::Born& born) { born.block = Begin(born.allocation); }
  void Apply(const Lives::Found& found);
  void Apply(const Lives::LetGo& let_go);
  void Apply(const Lives::Ended& ended);
  void Apply(const Lives::Stray& stray);
  void Apply(const trace::Relabel& relabel);
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::Reserve, trace::Map, trace::Unmap, trace::Step, trace::PhaseChange,
                         trace::TagChange, trace::Annotate, trace::OutOfMemory, trace::CardSample,
                         trace::Lost, trace::OutsideAllocate, trace::OutsideFree, trace::Resume,
                         trace::Activity, trace::Moved>
                Ignored>
  void Apply(const Ignored&) {}

  BlockId Begin(const trace::Allocate& allocation);
  const WalkedBlock* At(const std::optional<BlockId>& id) const {
    return id ? &blocks_[*id] : nullptr;
  }

  Lives lives_;
  BlockSlots<WalkedBlock> blocks_;
  std::optional<BlockId> block_;
  std::optional<BlockId> ended_;  // its slot is given back by the next event
  std::optional<BlockId> let_go_;
  uint64_t births_ = 0;
  Moment now_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_WALK_H_
