// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What does recording cost the allocating thread? One thread allocates blocks of a training step's
// sizes and writes a file on the temporary folder's disk. Not included: walking the interpreter's
// frames, and contention between threads.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <numeric>

#include "tests/profiler/recorder/recorder_fixture.h"

namespace memtrace::recorder {
namespace {

constexpr size_t kLiveBlocks = 5000;

BlockEvent Block(uint64_t number) {
  const Bytes requested = number % 3 == 0 ? 4_MiB : 1000 + number % 100'000;
  return {.pool = {},
          .address = DeviceAddress{0x7f00'0000'0000} + 8_MiB * (number * 7919 % kLiveBlocks),
          .requested = requested,
          .allocated = RoundUp(requested, 512)};
}

// Records an allocation, and the completed free of another block: two records. Argument: 1 also
// writes a summary each second, as in programs; 2 also keeps only 64 MiB, with checkpoints of 5,000
// blocks.
void RecordAllocationAndFree(benchmark::State& state) {
  RecordedRun run(
      {.keep_bytes = state.range(0) == 2 ? 64_MiB : 0, .with_summary = state.range(0) != 0});
  std::vector<trace::StackId> stacks;
  for (uintptr_t i = 1; i <= 300; ++i) {
    stacks.push_back(run.recorder().stacks().Intern(FramesOf({i, i % 20 + 1, 1})));
  }
  const uint64_t before = std::filesystem::file_size(run.path());
  uint64_t number = 0;
  for ([[maybe_unused]] auto _ : state) {
    BlockEvent born = Block(number);
    born.context = run.recorder().scopes().CurrentContext(stacks[number * 31 % stacks.size()]);
    run.recorder().blocks().Allocated(born);
    run.recorder().blocks().Freed(Block(number + 17));
    ++number;
  }
  run.recorder().Close();
  state.SetItemsProcessed(static_cast<int64_t>(2 * number));
  const uint64_t after = std::filesystem::file_size(run.path());
  state.counters["bytes_per_record"] =
      after > before ? static_cast<double>(after - before) / (2.0 * static_cast<double>(number))
                     : 0;
}
BENCHMARK(RecordAllocationAndFree)->DenseRange(0, 2);

// Interns a known stack, as most are. Its frames are in the cache, as they are after a walk.
void InternSeenStack(benchmark::State& state) {
  RecordedRun run;
  std::vector<uintptr_t> codes(static_cast<size_t>(state.range(0)));
  std::iota(codes.begin(), codes.end(), 0x7f00'0000'1000);
  const std::vector<RawFrame> frames = FramesOf(codes);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(run.recorder().stacks().Intern(frames));
  }
}
BENCHMARK(InternSeenStack)->Arg(10)->Arg(40)->Arg(60);

// Interns a stack of which only the innermost frame is new.
void InternStackWithNewTop(benchmark::State& state) {
  RecordedRun run;
  std::vector<uintptr_t> codes(40);
  std::iota(codes.begin(), codes.end(), 0x7f00'0000'1000);
  std::vector<RawFrame> frames = FramesOf(codes);
  for ([[maybe_unused]] auto _ : state) {
    ++frames[0].instruction;
    benchmark::DoNotOptimize(run.recorder().stacks().Intern(frames));
  }
}
BENCHMARK(InternStackWithNewTop)->Iterations(100'000);

void PushAndPopModule(benchmark::State& state) {
  RecordedRun run;
  run.recorder().scopes().PushModule("transformer.h.3");
  for ([[maybe_unused]] auto _ : state) {
    run.recorder().scopes().PushModule("transformer.h.3.mlp");
    run.recorder().scopes().PopModule();
  }
}
BENCHMARK(PushAndPopModule);

// Does not include torch's part, some nanoseconds to find the running operation.
class Engine final : public OperationSource {
 public:
  Operation Running() const override { return running; }
  Operation Next() const override { return next; }
  bool IsRecording() const override { return false; }

  Operation running;
  Operation next{.thread = 1, .sequence = 0};
};

// Finds the scope of an allocation. Argument: 0 no backward runs, 1 the backward of the same
// operation as before, 2 that of another one, in a thread whose scope changed 100,000 times.
void ContextInBackward(benchmark::State& state) {
  constexpr uint64_t kOperations = 100'000;
  Engine engine;
  RecordedRun run;
  run.recorder().scopes().SetOperations(&engine);
  for (uint64_t operation = 0; operation < kOperations; ++operation) {
    run.recorder().scopes().PushModule(operation % 2 == 0 ? "h.0" : "h.1");
    ++engine.next.sequence;
    run.recorder().scopes().PopModule();
  }
  if (state.range(0) > 0) engine.running = {.thread = 1, .sequence = kOperations / 2};
  for ([[maybe_unused]] auto _ : state) {
    if (state.range(0) == 2) --engine.running.sequence;
    if (engine.running.sequence == 0) engine.running.sequence = kOperations - 1;
    benchmark::DoNotOptimize(run.recorder().scopes().CurrentContext(0));
  }
}
BENCHMARK(ContextInBackward)->Arg(0)->Arg(1)->Arg(2);

}  // namespace
}  // namespace memtrace::recorder
