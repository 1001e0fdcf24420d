// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_MINIMALLOC_CSV_H_
#define MEMTRACE_TOOLS_BENCH_MINIMALLOC_CSV_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "interpose/bench/request_sequence.h"

namespace memtrace::bench {

// True if the file begins with the title line of MiniMalloc's CSV: id,lower,upper,size, in any
// order and with other columns ("begin" and "end" are also names for the times).
bool IsMiniMallocCsv(std::string_view beginning);

// Reads the buffers as requests in the order of their times. At one time, frees come before
// allocations, because `upper` is the first time at which a buffer is not alive. All requests are
// of stream 0. Returns kInvalidArgument with the line that cannot be read.
absl::StatusOr<RequestSequence> ReadMiniMallocCsv(std::string_view text);

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_MINIMALLOC_CSV_H_
