// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_ABI_STRUCTS_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_ABI_STRUCTS_H_

#include <string_view>
#include <vector>

#include "allocator/heap/caching_allocator.h"
#include "interpose/core/memtrace.h"

namespace memtrace {

// Conversions between the allocator's structs and those of the C ABI.
memtrace_statistics ToAbi(const Statistics& statistics);
// The order of the elements is: all, small pool, large pool.
void Copy(memtrace_statistic (&to)[3], const StatisticByPool& from);
memtrace_out_of_memory ToAbi(const OutOfMemoryEvent& event);
std::vector<memtrace_block> ToAbi(const std::vector<BlockView>& blocks);
// `blocks` are the segment's blocks and must outlive the result.
memtrace_segment ToAbi(int device, const SegmentView& segment,
                       const std::vector<memtrace_block>& blocks);

// The caller fills in `ledger` and `obtainable`.
OutOfMemoryEvent FromAbi(const memtrace_observed_out_of_memory& event);

// Copies the text, cut after the last whole line that fits.
void CopyExplanation(memtrace_out_of_memory& to, std::string_view text);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_ABI_STRUCTS_H_
