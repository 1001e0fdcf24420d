// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_HISTORY_WORDS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_HISTORY_WORDS_H_

#include <c10/cuda/CUDACachingAllocator.h>

namespace memtrace::shim {

// The types of torch's history and snapshots, from the place where this torch has them.
using c10::cuda::CUDACachingAllocator::BlockInfo;
using c10::cuda::CUDACachingAllocator::RecordContext;
using c10::cuda::CUDACachingAllocator::SegmentInfo;
using c10::cuda::CUDACachingAllocator::SnapshotInfo;
using c10::cuda::CUDACachingAllocator::TraceEntry;
using AnnotationEntry = decltype(SnapshotInfo::external_annotations)::value_type;
using EntryStream = decltype(TraceEntry::stream_);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_HISTORY_WORDS_H_
