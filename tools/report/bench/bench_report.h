// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_BENCH_BENCH_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_BENCH_BENCH_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/comparison.h"
#include "tools/bench/machine_state.h"

namespace memtrace::report {

// All that one run of `memtrace bench` measured.
struct BenchResult {
  bench::ComparisonSettings settings;
  bench::MachineState before;
  bench::MachineState after;
  std::vector<bench::BenchTable> tables;
};

// Calls that get memory or give it back, and calls that wait for work, of a play.
uint64_t MemoryCalls(const bench::PlayOutcome& outcome);
uint64_t Waits(const bench::PlayOutcome& outcome);

// The middle of some times, and the quarters around it. REQUIRES: times is not empty.
struct Spread {
  double least_quarter = 0;
  double median = 0;
  double most_quarter = 0;
};
Spread SpreadOf(std::vector<double> times);

// Returns a table for each sequence of requests, and notes that say what the columns mean.
std::string TextBench(const BenchResult& result);

// The same in the schema memtrace.bench/1. Equal inputs give equal documents except for "machine"
// and "times".
std::string JsonBench(const BenchResult& result);

// Says in a sentence why an allocator could not be tried to the end.
std::string FaultText(const std::string& allocator, const bench::Fault& fault);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_BENCH_BENCH_REPORT_H_
