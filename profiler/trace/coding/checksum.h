// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_CHECKSUM_H_
#define MEMTRACE_PROFILER_TRACE_CODING_CHECKSUM_H_

#include <cstdint>

#include "profiler/trace/coding/format.h"

namespace memtrace::trace {

// Returns the checksum of a block: of its header (with `checksum` taken as 0) and of
// `header.committed` bytes of records. It is never 0, because 0 means "still open".
uint64_t BlockChecksum(BlockHeader header, const void* records);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_CHECKSUM_H_
