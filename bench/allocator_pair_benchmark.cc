// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What does our allocator's own policy cost? Nanoseconds per allocation and free of one block over
// a card that is only bookkeeping, which nobody observes. So it is the policy alone: no driver call
// (a warm allocator makes none), no torch, no recording. Compare it between versions of ours; what
// torch pays per pair is bench/torch_interface.py.
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

class Nobody final : public AllocationObserver {
 public:
  Nobody() { HearOfBlocks(false); }
};

class Card {
 public:
  DeviceAddress Allocate(Bytes bytes, StreamId stream = kStream) {
    return std::get<DeviceAddress>(allocator_.Allocate(bytes, stream, 0));
  }
  void Free(DeviceAddress address) { allocator_.Free(address).IgnoreError(); }

 private:
  MemoryVmm vmm_{{.capacity = 80_GiB}};
  MemoryStreams streams_;
  Nobody nobody_;
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

// Threads with streams of their own on one card: what its lock costs.
void ThreadsPair(benchmark::State& state) {
  static auto* card = new Card;
  const StreamId stream{static_cast<uint64_t>(state.thread_index() + 1)};
  const DeviceAddress beside = card->Allocate(512, stream);
  for ([[maybe_unused]] auto _ : state) card->Free(card->Allocate(512, stream));
  card->Free(beside);
}
BENCHMARK(ThreadsPair)->ThreadRange(1, 8)->UseRealTime();

}  // namespace
}  // namespace memtrace
