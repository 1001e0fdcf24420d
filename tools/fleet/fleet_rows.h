// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FLEET_FLEET_ROWS_H_
#define MEMTRACE_TOOLS_FLEET_FLEET_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tools/fleet/trace_walk.h"

namespace memtrace::fleet {

// Counts of the rows that were written.
struct Tally {
  static constexpr size_t kMostNamed = 20;

  uint64_t rows = 0;
  uint64_t with_figures = 0;
  uint64_t with_problems = 0;
  std::vector<std::string> problems;  // the first kMostNamed, a sentence each
};

// Writes a line for each trace among the files, in their order, and for each problem; files that
// are no traces, neither by name nor by their first bytes, have none. Reads with several threads.
// The memory that it takes does not grow with the number of files. Errors of `out` are left in its
// state.
Tally WriteRows(const std::vector<FoundFile>& files, std::ostream& out);

}  // namespace memtrace::fleet

#endif  // MEMTRACE_TOOLS_FLEET_FLEET_ROWS_H_
