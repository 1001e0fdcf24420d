// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_SETTINGS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_SETTINGS_H_

#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <string>
#include <vector>

namespace memtrace::shim {

// The parts of PYTORCH_CUDA_ALLOC_CONF that torch has read.
struct VersionedSettings {
  using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;
  using CudaConfig = c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig;

  static size_t Divisions(size_t bytes) { return Config::roundup_power2_divisions(bytes); }
  static std::vector<size_t> AllDivisions() { return Config::roundup_power2_divisions(); }
  static size_t LargestSplit() { return Config::max_split_size(); }
  static double GarbageCollectionThreshold() { return Config::garbage_collection_threshold(); }
  static std::string Text() { return Config::last_allocator_settings(); }
  // Not from CUDAAllocatorConfig, which would print that this library was not built for them.
  static bool HasExpandableSegments() { return Config::use_expandable_segments(); }
  static bool ReusesInCaptures() { return CudaConfig::graph_capture_record_stream_reuse(); }
  static double FractionOfCard() { return CudaConfig::per_process_memory_fraction(); }
};

inline void AddVersionedSettings(c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& settings) {
  settings.graph_capture_record_stream_reuse = VersionedSettings::ReusesInCaptures();
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_10_VERSIONED_SETTINGS_H_
