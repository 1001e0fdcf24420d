// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_LESS_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_LESS_H_

#include <algorithm>
#include <cstdint>

namespace memtrace::analysis {

// Returns `bytes` without `other`; 0 if that is more.
constexpr uint64_t Less(uint64_t bytes, uint64_t other) { return bytes - std::min(bytes, other); }

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_LESS_H_
