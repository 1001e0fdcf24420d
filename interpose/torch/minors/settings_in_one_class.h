// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SETTINGS_IN_ONE_CLASS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SETTINGS_IN_ONE_CLASS_H_

#include <c10/cuda/CUDAAllocatorConfig.h>

#include <cstddef>
#include <string>
#include <vector>

namespace memtrace::shim {

// The parts of PYTORCH_CUDA_ALLOC_CONF that torch has read. Before 2.10 one class has all of them;
// its object is also torch's here (exports.map).
struct SettingsInOneClass {
  using Config = c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig;

  static size_t Divisions(size_t bytes) { return Config::roundup_power2_divisions(bytes); }
  static std::vector<size_t> AllDivisions() { return Config::roundup_power2_divisions(); }
  static size_t LargestSplit() { return Config::max_split_size(); }
  static double GarbageCollectionThreshold() { return Config::garbage_collection_threshold(); }
  static std::string Text() { return Config::last_allocator_settings(); }
  // Not from CUDAAllocatorConfig, which would print that this library was not built for them.
  static bool HasExpandableSegments() {
    return Text().find("expandable_segments:True") != std::string::npos;
  }
  static double FractionOfCard() { return 1; }  // there is no such setting before 2.10
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SETTINGS_IN_ONE_CLASS_H_
