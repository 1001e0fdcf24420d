// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_LIVE_TABLE_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_LIVE_TABLE_H_

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

// A block in use, with all that is known about it.
struct LiveBlock {
  Bytes requested = 0;
  Bytes allocated = 0;
  uint64_t birth = 0;  // sequence number of its allocation
  trace::StackId stack = 0;
  trace::StringId owner = 0;
  trace::StringId path = 0;
  trace::Role role = trace::Role::kUnknown;
  trace::Phase phase = trace::Phase::kOther;  // at birth
  uint8_t restated_in = 0;                    // the latest checkpoint that contains it
  // For checkpoints: further fields of Allocate, and its place of birth, as in ProgramPosition.
  uint64_t stream = 0;
  uint32_t pool = 0;
  trace::StringId module = 0;
  uint32_t phase_run = 0;
  uint32_t step = 0;
};
// One cache line: each allocation writes it, each free reads it.
static_assert(sizeof(LiveBlock) == 64);

// When an operation of the program last used a block.
struct BlockUse {
  uint64_t sequence = 0;     // of the latest event before it; 0: it is not known
  uint64_t step = 0;         // of the program
  bool is_captured = false;  // a captured graph uses the block, so replays may at any time
};

// A block in use and where it is.
struct PlacedBlock {
  DeviceAddress address;
  LiveBlock block;
  BlockUse use = {};  // the last that is known since its allocation
};

// All live blocks of the cards, by address; its size is proportional to their number. It keeps
// labels of whole blocks only: a label for a part of one goes to the trace, and reports split the
// block. Thread rule: one thread at a time.
class LiveTable {
 public:
  // Makes the processor fetch the entry that Add or Remove will touch, which is a cache miss with
  // thousands of live blocks, while other work is done.
  void Prefetch(DeviceIndex device, DeviceAddress address) const {
    blocks_.prefetch(KeyOf(device, address));
  }
  void Add(DeviceIndex device, DeviceAddress address, const LiveBlock& block);
  // Removes the block and returns it; returns nothing if there is none.
  std::optional<LiveBlock> Remove(DeviceIndex device, DeviceAddress address);
  LiveBlock* Find(DeviceIndex device, DeviceAddress address);
  const LiveBlock* Find(DeviceIndex device, DeviceAddress address) const;

  // Labels the block at `address` if the range covers its requested bytes. Returns true if the
  // label is new, or is about a part, which is not kept here; false if all of it was known, or if
  // it calls a block an input that already has a role: the output of one model is the input of
  // another.
  bool Relabel(DeviceIndex device, DeviceAddress address, Bytes size, const trace::Label& label);

  struct Group {
    trace::Role role = trace::Role::kUnknown;
    trace::StringId owner = 0;
    Bytes bytes = 0;  // requested
  };
  // Returns the largest groups of equal role and owner on the card, largest first.
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

  // Addresses are multiples of 512, and one multiplication spreads these well enough.
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return FibonacciHash<32>(key.first.value() + static_cast<uint32_t>(key.second));
    }
  };

  absl::flat_hash_map<Key, LiveBlock, KeyHash> blocks_;
};

// Guesses the role of a block without a label, from the phase in which it was allocated: activation
// for forward and recompute, temporary for backward and optimizer. It is used only in texts that
// need some role, and is never written to the trace.
trace::Role LikelyRole(const LiveBlock& block);

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_LIVE_TABLE_H_
