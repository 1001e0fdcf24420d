// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_BLOCKS_SEGMENT_KEY_H_
#define MEMTRACE_ALLOCATOR_BLOCKS_SEGMENT_KEY_H_

#include <cstdint>
#include <utility>

#include "base/units.h"

namespace memtrace {

// An owner whose memory lies in segments of its own, so that it can sleep. The caller of the
// allocator chooses the numbers; 0 is nobody, for memory that does not move.
enum class MovableOwner : uint32_t {};

// The properties that memory must share to be reused freely: the stream orders its uses, the pool
// keeps graphs apart, small requests stay away from large ones, and memory that sleeps together
// stays together, whatever the size of the requests (`small` is false).
struct SegmentKey {
  StreamId stream{};
  PoolId pool;
  bool small = false;
  MovableOwner movable{};

  bool is_movable() const { return movable != MovableOwner{}; }

  friend bool operator==(const SegmentKey&, const SegmentKey&) = default;

  template <typename H>
  friend H AbslHashValue(H state, const SegmentKey& key) {
    return H::combine(std::move(state), key.stream, key.pool.first, key.pool.second, key.small,
                      key.movable);
  }
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_BLOCKS_SEGMENT_KEY_H_
