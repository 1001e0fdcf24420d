// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/pair_card.h"

#include <algorithm>
#include <random>
#include <variant>
#include <vector>

namespace memtrace {

DeviceAddress PairCard::Allocate(Bytes bytes, StreamId stream) {
  return std::get<DeviceAddress>(allocator_.Allocate(bytes, stream));
}

void HotPairs(benchmark::State& state, PairCard& card) {
  const auto bytes = static_cast<Bytes>(state.range(0));
  const DeviceAddress beside = card.Allocate(bytes);  // keeps the segment in use
  for ([[maybe_unused]] auto _ : state) card.Free(card.Allocate(bytes));
  card.Free(beside);
}

void MixedPairs(benchmark::State& state, PairCard& card) {
  std::mt19937 random(1);
  const auto any_size = [&] { return Bytes{512} << (random() % 18); };
  // The sum must fit on the card, so with many blocks the largest sizes are capped.
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
  for (size_t i = 0; i < 20 * live; ++i) exchange_one();  // until the segment has its final size
  for ([[maybe_unused]] auto _ : state) exchange_one();
}

}  // namespace memtrace
