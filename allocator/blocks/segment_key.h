// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_BLOCKS_SEGMENT_KEY_H_
#define MEMTRACE_ALLOCATOR_BLOCKS_SEGMENT_KEY_H_

#include <utility>

#include "base/units.h"

namespace memtrace {

// The properties that memory must share to be reused freely: the stream orders its uses, the pool
// keeps graphs apart, and small requests stay away from large ones.
struct SegmentKey {
  StreamId stream{};
  PoolId pool;
  bool small = false;

  friend bool operator==(const SegmentKey&, const SegmentKey&) = default;

  template <typename H>
  friend H AbslHashValue(H state, const SegmentKey& key) {
    return H::combine(std::move(state), key.stream, key.pool.first, key.pool.second, key.small);
  }
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_BLOCKS_SEGMENT_KEY_H_
