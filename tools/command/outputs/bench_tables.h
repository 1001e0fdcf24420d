// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_BENCH_TABLES_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_BENCH_TABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/comparison.h"
#include "tools/command/inputs/bench_inputs.h"

namespace memtrace::command {

// An allocator of the command line.
struct BenchAllocator {
  std::string name;     // as its row has it
  std::string library;  // the absolute path of a foreign one; empty: one that memtrace knows
  std::string allocate = "my_malloc";
  std::string release = "my_free";
};

// The allocators that memtrace knows, each with a sentence about it.
struct KnownAllocator {
  std::string_view name;
  std::string_view description;
  bool is_in_all;  // part of "all", and of what is compared without --allocator
};
const std::vector<KnownAllocator>& KnownAllocators();

// Returns the allocators of the words, "all" for the usual ones, without repetition. Errors are
// sentences: kInvalidArgument for a name that is not known, kNotFound for a library that is not
// there.
absl::StatusOr<std::vector<BenchAllocator>> AllocatorsOf(const std::vector<std::string>& words);

// Measures one sequence. Errors: kFailedPrecondition, kNotFound or kUnavailable if no process can
// be started or no temporary file can be written.
absl::StatusOr<bench::BenchTable> MeasureTable(const BenchInput& input,
                                               const std::vector<BenchAllocator>& allocators,
                                               const bench::ComparisonSettings& settings,
                                               double limit);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_BENCH_TABLES_H_
