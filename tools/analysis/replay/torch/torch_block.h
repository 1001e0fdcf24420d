// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_BLOCK_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_BLOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/units.h"

// The parts that make up TorchHeap.
namespace memtrace::replay {

struct TorchSegment;

// A piece of a segment; its blocks tile it. Two free neighbours are one block, and so are two
// unmapped ones.
struct TorchBlock {
  enum class State : uint8_t { kFree, kInUse, kUnmapped };

  DeviceAddress address;
  Bytes size = 0;
  TorchBlock* before = nullptr;
  TorchBlock* behind = nullptr;
  TorchSegment* segment = nullptr;
  uint64_t free_since = 0;  // number of searches of its pool when it became free
  State state = State::kFree;

  DeviceAddress end() const { return address + size; }
  bool is_split() const { return before != nullptr || behind != nullptr; }
};

// Orders the smallest first, among equals the oldest segment's if that counts
// (TorchSettings::oldest_segment_first), then the lowest address. The first that is large enough is
// the best fit.
struct FreeKey {
  Bytes size = 0;
  uint32_t segment = 0;  // its ordinal, if that counts
  DeviceAddress address = {};
  TorchBlock* block = nullptr;
  friend bool operator<(const FreeKey& a, const FreeKey& b) {
    if (a.size != b.size) return a.size < b.size;
    if (a.segment != b.segment) return a.segment < b.segment;
    if (a.address != b.address) return a.address < b.address;
    return std::less<>()(a.block, b.block);  // never in a trace that is not broken
  }
};

// Blocks of small and of large requests never meet, nor do those of two pools.
struct TorchPool {
  uint32_t number = 0;  // 0 is the default pool
  bool is_small = false;
  bool is_split = true;  // false: MemPool(no_split=True)
  uint64_t searches = 0;
};

// The blocks of one stream in a pool. Blocks that wait for other streams are in neither list.
struct TorchLane {
  TorchPool* pool = nullptr;
  StreamId stream{};
  absl::btree_set<FreeKey> free;
  // Sorted by address; the segment is part of the key for traces that are broken.
  absl::btree_map<std::pair<DeviceAddress, TorchSegment*>, TorchBlock*> unmapped;
};

// One piece of memory from the driver, or one reservation of addresses into which chunks are
// mapped.
struct TorchSegment {
  DeviceAddress base;
  Bytes size = 0;
  Bytes chunk = 0;       // 0: not expandable
  uint32_t ordinal = 0;  // segments are counted as they appear on the card
  TorchLane* lane = nullptr;
  TorchBlock* first = nullptr;

  bool is_expandable() const { return chunk != 0; }
  AddressRange range() const { return AddressRange::Of(base, size); }
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_BLOCK_H_
