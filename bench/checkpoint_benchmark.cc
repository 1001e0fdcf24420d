// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// How long does a checkpoint delay the thread whose event begins it, and the other threads, and how
// many bytes does it take? By the number of live blocks. `restate_us` is the total, spread over
// `events`.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "profiler/recorder/accounts/checkpoint_writer.h"
#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::recorder {
namespace {

// The thread's CPU time, because a shared machine would also measure other programs.
struct Clock {
  using duration = std::chrono::nanoseconds;
  static duration now() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }
};

double Microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

void WriteCheckpoint(benchmark::State& state) {
  const auto blocks = static_cast<uint64_t>(state.range(0));
  const trace::TemporaryFolder folder;
  const auto writer =
      *trace::TraceWriter::Open(folder.File("run.trace"), {}, {.keep_bytes = 512_MiB});
  LiveTable live;
  for (uint64_t i = 0; i < blocks; ++i) {
    live.Add(DeviceIndex{0}, DeviceAddress{0x7f00'0000'0000} + 1_MiB * (i * 7919 % blocks),
             {.requested = 1000 + 37 * (i % 9000),
              .allocated = 512 * (i % 9000),
              .birth = i,
              .stack = static_cast<trace::StackId>(i % 300),
              .path = static_cast<trace::StringId>(i % 900),
              .role = trace::Role::kParameter});
  }
  const RunAccount run;
  CheckpointWriter checkpoint;
  uint64_t sequence = blocks;
  Clock::duration begin{};
  Clock::duration rest{};
  Clock::duration longest{};
  uint64_t events = 0;
  uint64_t bytes = 0;
  for ([[maybe_unused]] auto _ : state) {
    const uint64_t before = writer->blocks().begun();
    ++sequence;
    const auto start = Clock::now();
    checkpoint.Begin(*writer, live, run, sequence, sequence);
    begin += Clock::now() - start;
    while (checkpoint.is_running()) {
      const auto turn = Clock::now();
      checkpoint.Continue(writer->checkpoint(), live, run);
      const auto took = Clock::now() - turn;
      rest += took;
      longest = std::max(longest, took);
      ++events;
    }
    bytes += (writer->blocks().begun() - before) * (64 << 10);
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["begin_us"] = Microseconds(begin) / rounds;
  state.counters["restate_us"] = Microseconds(rest) / rounds;
  state.counters["longest_us"] = Microseconds(longest);
  state.counters["events"] = static_cast<double>(events) / rounds;
  state.counters["bytes_per_block"] =
      static_cast<double>(bytes) / rounds / static_cast<double>(blocks);
}
BENCHMARK(WriteCheckpoint)->Arg(1000)->Arg(5000)->Arg(100'000)->Arg(1'000'000);

}  // namespace
}  // namespace memtrace::recorder
