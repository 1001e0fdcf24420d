// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What does our allocator's own policy cost? Nanoseconds per allocation and free of one block over
// a card that is only bookkeeping, which nobody observes. So it is the policy alone: no driver call
// (a warm allocator makes none), no torch, no recording. Compare it between versions of ours; what
// torch pays per pair is bench/torch_interface.py.
#include "bench/pair_card.h"

namespace memtrace {
namespace {

Nobody nobody;

void HotPair(benchmark::State& state) {
  PairCard card(nobody);
  HotPairs(state, card);
}
BENCHMARK(HotPair)->Arg(512)->Arg(1 << 20)->Arg(64 << 20);

void MixedPair(benchmark::State& state) {
  PairCard card(nobody);
  MixedPairs(state, card);
}
BENCHMARK(MixedPair)->Arg(256)->Arg(5000);

// Threads with streams of their own on one card: what its lock costs.
void ThreadsPair(benchmark::State& state) {
  static auto* card = new PairCard(nobody);
  const StreamId stream{static_cast<uint64_t>(state.thread_index() + 1)};
  const DeviceAddress beside = card->Allocate(512, stream);
  for ([[maybe_unused]] auto _ : state) card->Free(card->Allocate(512, stream));
  card->Free(beside);
}
BENCHMARK(ThreadsPair)->ThreadRange(1, 8)->UseRealTime();

}  // namespace
}  // namespace memtrace
