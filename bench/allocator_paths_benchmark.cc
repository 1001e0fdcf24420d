// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What do the allocator's other paths cost, besides the hot pair (allocator_pair_benchmark.cc)?
// Measures only the policy, on a card that is only bookkeeping: on a GPU, the driver's time for
// mapping and waiting is added. Threads share one card, as in a process, so Threads also measures
// its lock.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>
#include <variant>
#include <vector>

#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"

namespace memtrace {
namespace {

constexpr Bytes kCard = 80_GiB;
constexpr StreamId kMain{1};
constexpr StreamId kSide{2};

class Card {
 public:
  DeviceAddress Allocate(Bytes bytes, StreamId stream = kMain) {
    return std::get<DeviceAddress>(allocator.Allocate(bytes, stream));
  }
  void Free(DeviceAddress address) { allocator.Free(address).IgnoreError(); }

  CallFailures calls;
  MemoryStreams streams{&calls};
  MemoryVmm vmm{{.capacity = kCard}, &streams, &calls};
  AllocationObserver nobody;
  CachingAllocator allocator{{}, vmm, streams, nobody};
};

// Each thread allocates and frees on a stream of its own.
void Threads(benchmark::State& state) {
  static std::unique_ptr<Card> card;
  if (state.thread_index() == 0) card = std::make_unique<Card>();
  const StreamId stream{static_cast<uint64_t>(state.thread_index()) + 1};
  for ([[maybe_unused]] auto _ : state) card->Free(card->Allocate(1_MiB, stream));
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) card.reset();
}
BENCHMARK(Threads)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

// Frees a block that a second stream has used, with an event that is done when it is first queried.
void RecordStreamPair(benchmark::State& state) {
  Card card;
  for ([[maybe_unused]] auto _ : state) {
    const DeviceAddress block = card.Allocate(1_MiB);
    card.allocator.RecordStream(block, kSide).IgnoreError();
    card.Free(block);
  }
}
BENCHMARK(RecordStreamPair);

// Measures a request that cannot be served until it fails: everything is searched, taken back, and
// summed up. Every other one of the blocks of 1.5 MiB is free, so that no granule is.
void OutOfMemory(benchmark::State& state) {
  Card card;
  std::vector<DeviceAddress> blocks(static_cast<size_t>(state.range(0)));
  for (DeviceAddress& block : blocks) block = card.Allocate(1536_KiB);
  for (size_t i = 0; i < blocks.size(); i += 2) card.Free(blocks[i]);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(card.allocator.Allocate(kCard - 1_GiB, kMain));
  }
}
BENCHMARK(OutOfMemory)->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

// Maps 1 GiB for a block and unmaps it: on an empty card, and on one with state.range(0) GiB in
// use, whose chunks are smaller.
void MapAndUnmapGib(benchmark::State& state) {
  Card card;
  if (state.range(0) > 0) card.Allocate(static_cast<Bytes>(state.range(0)) << 30);
  const uint64_t before = card.calls.calls(DriverCall::kMap);
  for ([[maybe_unused]] auto _ : state) {
    card.Free(card.Allocate(1_GiB, kSide));
    card.allocator.EmptyCache().IgnoreError();
  }
  state.counters["chunks"] =
      benchmark::Counter(static_cast<double>(card.calls.calls(DriverCall::kMap) - before) /
                         static_cast<double>(state.iterations()));
}
BENCHMARK(MapAndUnmapGib)->Arg(0)->Arg(20)->Arg(60)->Unit(benchmark::kMicrosecond);

Bytes HeapInUse() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

// Measures our own bookkeeping on the host's heap, as malloc counts it: per live block, and per
// mapped GiB without blocks. Both include the bookkeeping of the stand-in card; a driver has its
// own.
void Bookkeeping(benchmark::State& state) {
  constexpr size_t kBlocks = 100'000;
  constexpr Bytes kGibs = 32;
  std::vector<DeviceAddress> blocks(kBlocks);
  for ([[maybe_unused]] auto _ : state) {
    Card card;
    const Bytes empty = HeapInUse();
    card.Allocate(kGibs << 30);
    const Bytes mapped = HeapInUse();
    for (DeviceAddress& block : blocks) block = card.Allocate(4_KiB);
    state.counters["bytes_a_mapped_GiB"] = static_cast<double>(mapped - empty) / kGibs;
    state.counters["bytes_a_block"] = static_cast<double>(HeapInUse() - mapped) / kBlocks;
  }
}
BENCHMARK(Bookkeeping)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace memtrace
