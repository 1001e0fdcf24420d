// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_ENTRIES_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_ENTRIES_H_

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>

#include <string>
#include <utility>

#include "interpose/torch/minors/entry_facts.h"

namespace memtrace::shim {

// The words of torch's history and snapshots, wherever this torch has them.
using c10::cuda::CUDACachingAllocator::BlockInfo;
using c10::cuda::CUDACachingAllocator::RecordContext;
using c10::cuda::CUDACachingAllocator::SegmentInfo;
using c10::cuda::CUDACachingAllocator::TraceEntry;
using AnnotationEntry = c10::cuda::CUDACachingAllocator::AnnotationEntry;

inline TraceEntry MakeTraceEntry(TraceEntry::Action action, EntryFacts facts) {
  return {action,
          facts.device,
          facts.address,
          facts.bytes,
          static_cast<decltype(TraceEntry::stream_)>(facts.stream),
          std::move(facts.pool),
          facts.time,
          std::move(facts.context),
          std::move(facts.compile_context)};
}

inline MempoolId_t PoolOf(const TraceEntry& entry) { return entry.mempool_; }

// Only torch 2.11 and later name what a history skips.
inline TraceEntry::Action ActionOf(const std::string& name) {
  TORCH_CHECK(false, "a history of this torch cannot skip ", name);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_ENTRIES_H_
