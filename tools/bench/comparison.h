// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_COMPARISON_H_
#define MEMTRACE_TOOLS_BENCH_COMPARISON_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "tools/bench/tried_allocator.h"

namespace memtrace::bench {

// How allocators are compared.
struct ComparisonSettings {
  Bytes card = 160_GiB;            // on which reserved bytes and failures are measured
  std::string gpu = {};            // the name of the machine's GPU; empty: cards are simulated
  std::vector<int> threads = {1};  // numbers of threads whose pairs are timed; empty: none
  int repeat = 5;                  // timed plays of each allocator
  double seconds = 0.1;            // of one timed play
};

// The figures of one allocator.
struct BenchRow {
  std::string allocator;
  bool on_books = false;
  PlayOutcome on_card;                       // on the card of the settings
  std::optional<Bytes> smallest;             // card that serves all requests
  PlayOutcome on_smallest;                   // on that card
  std::map<int, std::vector<double>> times;  // threads -> nanoseconds of a pair, as measured
  std::optional<Fault> fault;                // the first; the figures after it are missing
};

// The figures of one sequence of requests.
struct BenchTable {
  std::string input;
  int32_t device = 0;
  bool is_one_of_several = false;  // other cards of the same file have tables
  uint64_t allocations = 0;
  uint32_t streams = 0;
  Bytes lower_bound = 0;
  std::vector<BenchRow> rows;
};

struct NamedAllocator {
  std::string name;
  std::unique_ptr<TriedAllocator> allocator;
};

// Measures the allocators: each by itself on cards, then all in turns, so that the times of one
// round see the same machine.
std::vector<BenchRow> Compare(std::vector<NamedAllocator>& tried, Bytes lower_bound,
                              const ComparisonSettings& settings);

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_COMPARISON_H_
