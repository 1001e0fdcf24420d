// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_LIVE_TABLE_H_
#define MEMTRACE_PROFILER_RECORDER_LIVE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/fibonacci_hash.h"
#include "base/units.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/events/label.h"

namespace memtrace::recorder {

// A block that the program holds, and what is known of it.
struct LiveBlock {
  Bytes requested = 0;
  Bytes allocated = 0;
  uint64_t birth = 0;  // sequence number of its allocation
  trace::StackId stack = 0;
  trace::StringId owner = 0;
  trace::StringId path = 0;
  trace::Role role = trace::Role::kUnknown;
  trace::Phase phase = trace::Phase::kOther;  // at birth
  uint8_t restated_in = 0;                    // the checkpoint that had it last
  // For checkpoints, as the fields of Allocate; where it was born, as ProgramPosition.
  uint64_t stream = 0;
  uint32_t pool = 0;
  trace::StringId module = 0;
  uint32_t phase_run = 0;
  uint32_t step = 0;
};
// One line of the cache: each allocation writes it, each free reads it.
static_assert(sizeof(LiveBlock) == 64);

// Everything that lives on the cards, by address. As large as the number of live blocks. Knows
// labels of whole blocks only: a label for a part of one goes to the trace, where reports split
// blocks. Thread rule: one thread at a time.
class LiveTable {
 public:
  // Has the processor fetch what Add or Remove will touch, a cache miss where thousands of blocks
  // live, while something else is done.
  void Prefetch(DeviceIndex device, DeviceAddress address) const {
    blocks_.prefetch(KeyOf(device, address));
  }
  void Add(DeviceIndex device, DeviceAddress address, const LiveBlock& block);
  // Removes the block and returns it; nothing if there is none.
  std::optional<LiveBlock> Remove(DeviceIndex device, DeviceAddress address);
  LiveBlock* Find(DeviceIndex device, DeviceAddress address);
  const LiveBlock* Find(DeviceIndex device, DeviceAddress address) const;

  // Labels the block at `address` if the range covers what was requested of it. True if this says
  // something new, or something about a part that we do not keep; false if all of it was known, or
  // calls an input what has a role already: what one model made is another's input.
  bool Relabel(DeviceIndex device, DeviceAddress address, Bytes size, const trace::Label& label);

  struct Group {
    trace::Role role = trace::Role::kUnknown;
    trace::StringId owner = 0;
    Bytes bytes = 0;  // requested
  };
  // The largest groups of equal role and owner on the card, largest first.
  std::vector<Group> LargestGroups(DeviceIndex device, size_t most) const;

  using Key = std::pair<DeviceAddress, int32_t>;
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [key, block] : blocks_) visit(key, block);
  }
  size_t size() const { return blocks_.size(); }

 private:
  static Key KeyOf(DeviceIndex device, DeviceAddress address) {
    return {address, static_cast<int32_t>(device)};
  }

  // Addresses are multiples of 512: one multiplication spreads them well enough.
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return FibonacciHash<32>(key.first.value() + static_cast<uint32_t>(key.second));
    }
  };

  absl::flat_hash_map<Key, LiveBlock, KeyHash> blocks_;
};

// The role of a block that nobody labelled, by the phase in which it was born: what a forward pass
// leaves behind are activations, what a backward pass or an optimizer makes is temporary. A guess,
// for texts that must say something; it is never written to the trace.
trace::Role LikelyRole(const LiveBlock& block);

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_LIVE_TABLE_H_
