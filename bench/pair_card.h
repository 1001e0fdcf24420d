// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_PAIR_CARD_H_
#define MEMTRACE_BENCH_PAIR_CARD_H_

#include <benchmark/benchmark.h>

#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"

namespace memtrace {

// Hears of nothing and costs nothing.
class Nobody final : public AllocationObserver {
 public:
  Nobody() { HearOfBlocks(false); }
};

// Our allocator over a card that is only bookkeeping: no driver is called (a warm allocator makes
// no driver calls).
class PairCard {
 public:
  static constexpr StreamId kStream{0};

  // `observer` outlives this.
  explicit PairCard(AllocationObserver& observer) : allocator_({}, vmm_, streams_, observer) {}

  DeviceAddress Allocate(Bytes bytes, StreamId stream = kStream);
  void Free(DeviceAddress address) { allocator_.Free(address).IgnoreError(); }

 private:
  MemoryVmm vmm_{{.capacity = 80_GiB}};
  MemoryStreams streams_;
  CachingAllocator allocator_;
};

// The same block of state.range(0) bytes again and again: the cheapest pair there is.
void HotPairs(benchmark::State& state, PairCard& card);

// A random one of state.range(0) live blocks is freed and one of another size allocated: sizes are
// 512 B to 64 MiB, each power of two equally likely. Blocks split and merge.
void MixedPairs(benchmark::State& state, PairCard& card);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_PAIR_CARD_H_
