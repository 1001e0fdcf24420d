// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_BLOCK_WALK_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_BLOCK_WALK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "absl/container/btree_map.h"
#include "profiler/trace/event.h"
#include "tools/analysis/position.h"

namespace memtrace::interchange {

// When something happened.
struct Moment {
  uint64_t sequence = 0;
  uint64_t time_ns = 0;
  analysis::Position at;
};

struct WalkedBlock {
  uint64_t number = 0;  // as BlockIndex counts
  trace::Allocate allocation;
  Moment birth;
  uint64_t born_ordinal = 0;  // of the event that said so
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

  uint64_t ordinal() const { return ordinal_; }  // of the event, from 1
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
  template <typename Other>
  void Apply(const Other&) {}

  std::map<int32_t, Blocks> devices_;
  std::optional<WalkedBlock> block_;
  std::optional<WalkedBlock> ended_;
  uint64_t blocks_ = 0;
  uint64_t ordinal_ = 0;
  Moment now_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_BLOCK_WALK_H_
