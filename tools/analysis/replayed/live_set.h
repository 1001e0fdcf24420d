// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVE_SET_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVE_SET_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/trace/events/event.h"
#include "profiler/trace/reading/label_ranges.h"
#include "profiler/trace/reading/mapped_ranges.h"
#include "tools/analysis/replayed/block_lives.h"
#include "tools/analysis/replayed/block_slots.h"
#include "tools/analysis/replayed/by_card.h"
#include "tools/analysis/source/position.h"

namespace memtrace::analysis {

using trace::Label;
using trace::LabelledRange;
using trace::LabelRanges;
using trace::MappedRanges;

struct Block {
  trace::Allocate allocation;
  uint64_t sequence = 0;  // of its allocation
  uint64_t born_ns = 0;   // since the trace began; when recording began, if it lived then
  Position birth;
  Position death;        // meaningful if `waiting`: when it was let go of
  uint64_t died_ns = 0;  // likewise
  // Requested bytes in use on its card just before its birth, and just after its free was
  // requested.
  uint64_t level_before = 0;
  uint64_t level_after = 0;
  bool waiting = false;  // no longer in use: its free was requested, or it ended without a request
  bool freed = false;    // it has also ended
  bool captured = false;
  bool labelled = false;      // at least a part of it
  uint32_t labels_begin = 0;  // its labels in the archive, once freed
  uint32_t labels_end = 0;
};

// A block as it stood at a moment.
struct CapturedBlock {
  BlockId id = 0;
  bool waiting = false;  // its free had been requested
};

// Is told of each block of a LiveSet once as it begins to live and once as it ends.
class BlockListener {
 public:
  virtual ~BlockListener() = default;
  virtual void Began(BlockId id) = 0;
  // Called at the last moment at which the block's labels are known, unless it was captured.
  virtual void Ends(BlockId id) = 0;
};

// Replays a trace: tells which blocks are alive, with their labels. Blocks that Capture() named are
// kept for ever and collect labels until they are freed, because a role is often stated long after
// the moment in question. All others are forgotten when freed.
class LiveSet {
  using Lives = BlockLives<BlockId>;

 public:
  void Apply(const trace::Event& event) { Apply(event, nullptr); }
  void Apply(const trace::Event& event, BlockListener* listener);

  // Returns the blocks of `device` whose memory is not yet free for others, in order of address.
  std::vector<CapturedBlock> Capture(int32_t device);

  // Visits the blocks of `device` that are in use now, in no order.
  template <typename Visit>
  void ForEachInUse(int32_t device, const Visit& visit) const {
    const auto card = lives_.cards().find(device);
    if (card == lives_.cards().end()) return;
    card->second.ForEach([&](const Lives::Life& life) {
      if (!life.waiting) visit(life.block);
    });
  }

  const Block& block(BlockId id) const { return blocks_[id]; }
  // Returns the living block that begins at `address`.
  std::optional<BlockId> At(int32_t device, uint64_t address) const {
    const Lives::Life* life = lives_.At(device, address);
    return life == nullptr ? std::nullopt : std::optional(life->block);
  }
  // Returns the stated labels of a captured or living block, by address, clipped to the requested
  // bytes.
  std::vector<LabelledRange> Labels(BlockId id) const;

  const Position& position() const { return position_; }
  const MappedRanges& mapped(int32_t device) { return devices_[device].mapped; }

 private:
  struct Device {
    LabelRanges labels;
    MappedRanges mapped;
    uint64_t in_use = 0;  // requested bytes
  };

  void Apply(const Lives::Born& born);
  void Apply(const Lives::Found& found);
  void Apply(const Lives::LetGo& let_go);
  void Apply(const Lives::Ended& ended);
  void Apply(const trace::Relabel& relabel);
  void Apply(const trace::Map& map);
  void Apply(const trace::Unmap& unmap);
  // Ignores events that change nothing here.
  template <trace::OneOf<Lives::Stray, trace::Reserve, trace::Step, trace::PhaseChange,
                         trace::TagChange, trace::Annotate, trace::OutOfMemory, trace::CardSample,
                         trace::Lost, trace::OutsideAllocate, trace::OutsideFree, trace::Resume,
                         trace::Activity, trace::Moved>
                Ignored>
  void Apply(const Ignored&) {}

  BlockId Begin(const trace::Allocate& allocation);
  void LetGo(Block& block);

  Lives lives_;
  ByCard<Device> devices_;
  BlockSlots<Block> blocks_;
  std::vector<LabelledRange> archive_;  // labels of captured blocks that were freed
  BlockListener* listener_ = nullptr;   // during Apply; null if there is none
  Position position_;
  uint64_t sequence_ = 0;  // of the event that is replayed
  uint64_t now_ns_ = 0;
};

// Returns the allocated bytes of those blocks that lie in private pools.
uint64_t PrivatePoolBytes(const std::vector<CapturedBlock>& captured, const LiveSet& live);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVE_SET_H_
