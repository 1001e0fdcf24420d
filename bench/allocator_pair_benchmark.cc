// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What does our allocator's own policy cost? Nanoseconds per allocation and free of one block, one
// thread, over a card that is only bookkeeping, with an observer that does nothing. So it is the
// policy alone: no driver call (a warm allocator makes none), no torch, no recording, no contention
// on the card's lock. Compare it between versions of ours; what torch pays per pair is
// bench/torch_pair.py.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <variant>
#include <vector>

#include "allocator/caching_allocator.h"
#include "allocator/memory_streams.h"
#include "allocator/memory_vmm.h"

namespace memtrace {
namespace {

constexpr StreamId kStream{0};

class Card {
 public:
  DeviceAddress Allocate(Bytes bytes) {
    return std::get<DeviceAddress>(allocator_.Allocate(bytes, kStream, 0));
  }
  void Free(DeviceAddress address) { allocator_.Free(address).IgnoreError(); }

 private:
  MemoryVmm vmm_{{.capacity = 80_GiB}};
  MemoryStreams streams_;
  AllocationObserver nobody_;
  CachingAllocator allocator_{{}, vmm_, streams_, nobody_};
};

// The same block again and again: the cheapest pair there is.
void HotPair(benchmark::State& state) {
  Card card;
  const auto bytes = static_cast<Bytes>(state.range(0));
  const DeviceAddress beside = card.Allocate(bytes);  // keeps the segment in use
  for ([[maybe_unused]] auto _ : state) card.Free(card.Allocate(bytes));
  card.Free(beside);
}
BENCHMARK(HotPair)->Arg(512)->Arg(1 << 20)->Arg(64 << 20);

// A random one of many live blocks is freed and one of another size allocated: sizes are 512 B to
// 64 MiB, each power of two equally likely. Blocks split and merge.
void MixedPair(benchmark::State& state) {
  Card card;
  std::mt19937 random(1);
  const auto any_size = [&] { return Bytes{512} << (random() % 18); };
  // The sum must fit: with many blocks, the largest sizes are left out.
  const auto live = static_cast<size_t>(state.range(0));
  const Bytes most = 60_GiB / live;
  const auto size = [&] { return std::min(any_size(), most); };
  std::vector<DeviceAddress> blocks(live);
  for (DeviceAddress& block : blocks) block = card.Allocate(size());
  const auto exchange_one = [&] {
    DeviceAddress& block = blocks[random() % live];
    card.Free(block);
    block = card.Allocate(size());
  };
  for (size_t i = 0; i < 20 * live; ++i) exchange_one();  // grown to its final size
  for ([[maybe_unused]] auto _ : state) exchange_one();
}
BENCHMARK(MixedPair)->Arg(256)->Arg(5000);

}  // namespace
}  // namespace memtrace
