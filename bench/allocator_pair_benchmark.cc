// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What does our allocator's own policy cost? Measures nanoseconds per allocation and free of one
// block on a card that is only bookkeeping, without an observer. So it measures only the policy: no
// driver calls (a warm allocator makes none), no torch, no recording. It compares our own versions;
// bench/torch_interface.py measures the cost of a pair for torch.
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

// Measures the cost of the card's lock: each thread has a stream of its own on one card.
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
