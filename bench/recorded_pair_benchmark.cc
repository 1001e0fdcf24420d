// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What does recording add to a pair of allocation and free? Runs the pairs of
// allocator_pair_benchmark.cc without an observer and with a recorder that writes a trace to the
// temporary folder's disk, in one run; the difference is the cost of recording. No stack is taken,
// and torch is not involved.
#include "bench/pair_card.h"
#include "tests/profiler/recorder/recorder_fixture.h"

namespace memtrace {
namespace {

using Pairs = void (*)(benchmark::State&, PairCard&);

void Alone(benchmark::State& state, Pairs pairs) {
  Nobody nobody;
  PairCard card(nobody);
  pairs(state, card);
}

void Recorded(benchmark::State& state, Pairs pairs) {
  recorder::RecordedRun run;
  PairCard card(run.recorder().blocks());
  pairs(state, card);
}

BENCHMARK_CAPTURE(Alone, hot, HotPairs)->Arg(512);
BENCHMARK_CAPTURE(Recorded, hot, HotPairs)->Arg(512);
BENCHMARK_CAPTURE(Alone, mixed, MixedPairs)->Arg(256)->Arg(5000);
BENCHMARK_CAPTURE(Recorded, mixed, MixedPairs)->Arg(256)->Arg(5000);

}  // namespace
}  // namespace memtrace
