// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace.h that shows an allocator's statistics and segments.
#include <vector>

#include "interpose/core/abi/abi_structs.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/memtrace.h"

extern "C" {

int memtrace_get_statistics(int device, memtrace_statistics* statistics) {
  if (!memtrace::HasSize(statistics)) return memtrace::Missing("statistics");
  return memtrace::WithCard(device, [&](memtrace::CachingAllocator& allocator) {
    memtrace::WriteCommonPart(statistics, memtrace::ToAbi(allocator.accounts().statistics()));
    return static_cast<int>(MEMTRACE_OK);
  });
}

int memtrace_reset_peak_statistics(int device) {
  return memtrace::WithCard(device, [](memtrace::CachingAllocator& allocator) {
    allocator.accounts().ResetPeak();
    return static_cast<int>(MEMTRACE_OK);
  });
}

int memtrace_reset_accumulated_statistics(int device) {
  return memtrace::WithCard(device, [](memtrace::CachingAllocator& allocator) {
    allocator.accounts().ResetAccumulated();
    return static_cast<int>(MEMTRACE_OK);
  });
}

int memtrace_visit_segments(int device, void (*visit)(void*, const memtrace_segment*), void* user) {
  if (visit == nullptr) return memtrace::Missing("visit");
  return memtrace::WithCard(device, [&](memtrace::CachingAllocator& allocator) {
    for (const memtrace::SegmentView& segment : allocator.Snapshot()) {
      const std::vector<memtrace_block> blocks = memtrace::ToAbi(segment.blocks);
      const memtrace_segment view = memtrace::ToAbi(device, segment, blocks);
      visit(user, &view);
    }
    return static_cast<int>(MEMTRACE_OK);
  });
}

}  // extern "C"
