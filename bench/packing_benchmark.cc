// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// How long does `Pack` take, and how close is its result to the lower bound? For MiniMalloc's
// instances the target is the capacity into which they are known to fit, as for their own solver;
// otherwise it is the lower bound. `height_over_bound` is 1 at best, which some inputs cannot
// reach.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "tests/tools/analysis/packing_inputs.h"
#include "tools/analysis/packing/packing.h"

namespace memtrace::analysis {
namespace {

void PackEach(benchmark::State& state, const std::vector<PackingItem>& items,
              const PackingBudget& budget) {
  Packing packing;
  for ([[maybe_unused]] auto _ : state) packing = Pack(items, budget);
  state.counters["items"] = static_cast<double>(items.size());
  state.counters["steps"] = static_cast<double>(packing.steps);
  state.counters["height"] = static_cast<double>(packing.height);
  state.counters["height_over_bound"] =
      static_cast<double>(packing.height) / static_cast<double>(packing.lower_bound);
}

void MiniMalloc(benchmark::State& state) {
  const auto letter = static_cast<char>(state.range(0));
  state.SetLabel(std::string(1, letter));
  PackEach(state, MiniMallocItems(letter), {.capacity = kMiniMallocCapacity});
}
BENCHMARK(MiniMalloc)->DenseRange('A', 'K')->Unit(benchmark::kMillisecond);

// Packs a training with 48 layers; 60 steps have more than 100,000 items.
void Training(benchmark::State& state) {
  PackEach(state, TrainingItems(48, static_cast<uint32_t>(state.range(0)), state.range(1) != 0),
           {});
}
BENCHMARK(Training)
    ->ArgsProduct({{3, 60}, {0, 1}})
    ->ArgNames({"steps", "vary"})
    ->Unit(benchmark::kMillisecond);

// Packs random items, of which some 4 % are alive at any time.
void Random(benchmark::State& state) {
  std::mt19937_64 random(5);
  const auto count = static_cast<size_t>(state.range(0));
  PackEach(state, RandomItems(random, count, 1'000'000, 80'000, 1_MiB), {});
}
BENCHMARK(Random)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace memtrace::analysis
