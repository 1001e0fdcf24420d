// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_BENCH_INPUTS_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_BENCH_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "interpose/bench/request_sequence.h"

namespace memtrace::command {

// The requests of one card of a file, or of a workload.
struct BenchInput {
  std::string name;  // the file's, without its folder, or the workload's
  int32_t device = 0;
  bool is_one_of_several = false;  // the file has requests of other cards, too
  bench::RequestSequence sequence;
};

// Reads the requests of a trace, a memory snapshot of torch, an RMM log or a CSV of MiniMalloc.
// `exit_code` becomes kPartial if only a part could be read. Errors are sentences: kNotFound if the
// file cannot be read, kInvalidArgument if it has no request.
absl::StatusOr<std::vector<BenchInput>> ReadBenchFile(const std::string& path, int& exit_code);

// Computes a built-in workload. kInvalidArgument: there is none of that name.
absl::StatusOr<BenchInput> BuiltInWorkload(const std::string& name);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_BENCH_INPUTS_H_
