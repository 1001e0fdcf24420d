// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_ADDRESS_RANGE_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_ADDRESS_RANGE_H_

#include <algorithm>
#include <cstdint>

namespace memtrace::analysis {

// Returns the first address behind a range. A file may claim any numbers: a range ends at the last
// address at the latest.
inline uint64_t EndOf(uint64_t address, uint64_t bytes) {
  return address + std::min(bytes, ~uint64_t{0} - address);
}

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_ADDRESS_RANGE_H_
