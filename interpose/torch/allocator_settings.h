// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_ALLOCATOR_SETTINGS_H_
#define MEMTRACE_INTERPOSE_TORCH_ALLOCATOR_SETTINGS_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <cstdint>
#include <string>

// PYTORCH_CUDA_ALLOC_CONF, as torch has read it. Keys keep torch's meaning; what has none with
// segments that always expand is accepted and said once.
namespace memtrace::shim {

// What a request occupies at least by roundup_power2_divisions, in bytes; `bytes` without it, and
// for powers of two whatever the setting.
size_t BytesBetweenPowers(size_t bytes);
inline size_t BytesByDivisions(size_t bytes) {
  // std::has_single_bit is a call where no popcount instruction is sure.
  return (bytes & (bytes - 1)) == 0 ? bytes : BytesBetweenPowers(bytes);
}

// per_process_memory_fraction, in [0, 1].
double FractionOfCard();

// graph_capture_record_stream_reuse.
bool ReusesInCaptures();

// max_split_size_mb in bytes; -1 if it is not set, as memory_stats() says it.
int64_t LargestSplit();

// For snapshots: torch's own values.
void AddSettings(c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& settings);

// One line on stderr that names the keys that change nothing, if there are any.
void SaySettingsWithoutEffect();

// "native" or "cudaMallocAsync", from the environment, as torch reads it when it is loaded.
std::string BackendOfSettings();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_ALLOCATOR_SETTINGS_H_
