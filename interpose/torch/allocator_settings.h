// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_ALLOCATOR_SETTINGS_H_
#define MEMTRACE_INTERPOSE_TORCH_ALLOCATOR_SETTINGS_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <cstdint>
#include <string>

// PYTORCH_CUDA_ALLOC_CONF, as torch has read it. Keys keep torch's meaning; a key without effect,
// because segments always expand, is accepted and reported once.
namespace memtrace::shim {

// Returns the bytes that a request occupies at least by roundup_power2_divisions; `bytes` itself
// without that setting, and always for powers of two.
size_t RoundUpToDivision(size_t bytes);
inline size_t BytesByDivisions(size_t bytes) {
  // std::has_single_bit is a call unless the target is known to have a popcount instruction.
  return (bytes & (bytes - 1)) == 0 ? bytes : RoundUpToDivision(bytes);
}

// Returns per_process_memory_fraction, in [0, 1].
double FractionOfCard();

// Returns graph_capture_record_stream_reuse.
bool ReusesInCaptures();

// Returns max_split_size_mb in bytes; -1 if it is not set, as in memory_stats().
int64_t LargestSplit();

// Adds torch's own values, for snapshots.
void AddSettings(c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& settings);

// Prints one line on stderr that names the keys without effect, if there are any.
void WarnAboutIgnoredSettings();

// Returns "native" or "cudaMallocAsync", from the environment, as torch reads it when it is loaded.
std::string BackendOfSettings();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_ALLOCATOR_SETTINGS_H_
