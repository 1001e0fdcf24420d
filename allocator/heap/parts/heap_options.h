// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_HEAP_OPTIONS_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_HEAP_OPTIONS_H_

#include <memory>

#include "allocator/card/capture_graphs.h"
#include "allocator/card/chunk_copies.h"
#include "allocator/heap/parts/cache_rules.h"
#include "allocator/plan/plan.h"
#include "base/units.h"

namespace memtrace {

struct HeapOptions {
  DeviceIndex device{};
  Bytes limit = ~Bytes{0};                     // the most bytes to map
  std::shared_ptr<const Plan> plan = nullptr;  // where blocks are placed, if planned
  CacheBounds cache = {};                      // what may stay cached
  CaptureGraphs* captures = nullptr;  // must outlive the allocator; null: SetCaptureReuse() is idle
  ChunkCopies* copies = nullptr;      // must outlive the allocator; null: no copies to the host
  Bytes host_limit = ~Bytes{0};       // the most bytes of the host for copies of sleeping memory
  Bytes spill = 0;                    // the most bytes of the host behind blocks in use; 0: none
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_HEAP_OPTIONS_H_
