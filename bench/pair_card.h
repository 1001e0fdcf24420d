// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_PAIR_CARD_H_
#define MEMTRACE_BENCH_PAIR_CARD_H_

#include <benchmark/benchmark.h>

#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"

namespace memtrace {

// An observer that receives no events and costs nothing.
class Nobody final : public AllocationObserver {
 public:
  Nobody() { SetObservesBlocks(false); }
};

// Our allocator on a card that is only bookkeeping: no driver is called (a warm allocator makes no
// driver calls).
class PairCard {
 public:
  static constexpr StreamId kStream{0};

  // `observer` must outlive this.
  explicit PairCard(AllocationObserver& observer) : allocator_({}, vmm_, streams_, observer) {}

  DeviceAddress Allocate(Bytes bytes, StreamId stream = kStream);
  void Free(DeviceAddress address) { allocator_.Free(address).IgnoreError(); }

 private:
  MemoryVmm vmm_{{.capacity = 80_GiB}};
  MemoryStreams streams_;
  CachingAllocator allocator_;
};

// Allocates and frees a block of state.range(0) bytes again and again: the cheapest pair possible.
void HotPairs(benchmark::State& state, PairCard& card);

// Frees a random one of state.range(0) live blocks and allocates one of another size. Sizes are 512
// B to 64 MiB, each power of two equally likely. Blocks split and merge.
void MixedPairs(benchmark::State& state, PairCard& card);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_PAIR_CARD_H_
