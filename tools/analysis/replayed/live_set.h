// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVE_SET_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVE_SET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profiler/trace/events/event.h"
#include "profiler/trace/reading/label_ranges.h"
#include "profiler/trace/reading/mapped_ranges.h"
#include "tools/analysis/replayed/living_blocks.h"
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
  Position death;        // meaningful if `freed`; of the free's request
  uint64_t died_ns = 0;  // ... as this, and the next
  // Requested bytes in use on its card just before its birth, and just after its free's request.
  uint64_t level_before = 0;
  uint64_t level_after = 0;
  bool waiting = false;  // its free was requested
  bool freed = false;    // and completed
  bool captured = false;
  bool labelled = false;      // a part of it, at least
  uint32_t labels_begin = 0;  // its labels in the archive, once freed
  uint32_t labels_end = 0;
};

// A block as it stood at a moment.
struct CapturedBlock {
  BlockId id = 0;
  bool waiting = false;  // its free had been requested
};

// Replays a trace: which blocks are alive, with their labels. Blocks that Capture() named are kept
// for ever, and go on to collect labels until they are freed: a role is often stated long after
// the moment that is asked about. All others are forgotten when freed.
class LiveSet {
 public:
  void Apply(const trace::Event& event);

  // The blocks of `device` whose memory is not free for others yet, in order of address.
  std::vector<CapturedBlock> Capture(int32_t device);

  // The blocks of `device` in use now, in no order.
  template <typename Visit>
  void ForEachInUse(int32_t device, const Visit& visit) const {
    const auto card = devices_.find(device);
    if (card == devices_.end()) return;
    card->second.living.ForEach([&](BlockId id) {
      if (!blocks_[id].waiting) visit(id);
    });
  }

  const Block& block(BlockId id) const { return blocks_[id]; }
  // The living block that begins at `address`.
  std::optional<BlockId> At(int32_t device, uint64_t address) const;
  // The stated labels of a captured or living block, by address, clipped to the bytes requested.
  std::vector<LabelledRange> Labels(BlockId id) const;

  const Position& position() const { return position_; }
  const MappedRanges& mapped(int32_t device) { return devices_[device].mapped; }

 private:
  struct Device {
    LivingBlocks living;
    LabelRanges labels;
    MappedRanges mapped;
    uint64_t in_use = 0;  // requested bytes
  };

  void Apply(const trace::Allocate& allocation);
  void Apply(const trace::Alive& alive);
  void Apply(const trace::FreeRequested& free);
  void Apply(const trace::FreeCompleted& free);
  void Apply(const trace::Relabel& relabel);
  void Apply(const trace::Map& map);
  void Apply(const trace::Unmap& unmap);
  // Of kinds that change nothing here.
  template <trace::OneOf<trace::Reserve, trace::Step, trace::PhaseChange, trace::TagChange,
                         trace::Annotate, trace::OutOfMemory, trace::CardSample, trace::Lost,
                         trace::OutsideAllocate, trace::OutsideFree, trace::Resume, trace::Activity>
                Ignored>
  void Apply(const Ignored&) {}

  Block* Find(int32_t device, uint64_t address);
  BlockId NewBlock();
  // Its free is requested.
  void Die(Device& device, Block& block) const;
  void Retire(Device& device, BlockId id);

  std::map<int32_t, Device> devices_;
  std::vector<Block> blocks_;
  std::vector<BlockId> vacant_;         // entries of blocks_ to use again
  std::vector<LabelledRange> archive_;  // labels of captured blocks that were freed
  Position position_;
  uint64_t sequence_ = 0;  // of the event that is replayed
  uint64_t now_ns_ = 0;
};

// Bytes, as allocated, of those blocks that lie in private pools.
uint64_t PrivatePoolBytes(const std::vector<CapturedBlock>& captured, const LiveSet& live);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVE_SET_H_
