// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/allocator_settings.h"

#include <c10/cuda/CUDAAllocatorConfig.h>

#include <array>
#include <bit>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/units.h"
#include "versioned_settings.h"

namespace memtrace::shim {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig;

// These settings have no effect because segments always expand, blocks are always split, and free
// chunks are moved where they are needed.
constexpr std::string_view kAsync = "backend:cudaMallocAsync";
constexpr std::array<std::string_view, 7> kWithoutEffect = {"max_split_size_mb",
                                                            "max_non_split_rounding_mb",
                                                            "large_segment_size_mb",
                                                            "garbage_collection_threshold",
                                                            "release_lock_on_cudamalloc",
                                                            "expandable_segments:False",
                                                            kAsync};

}  // namespace

// Follows torch's documentation of roundup_power2_divisions: between two powers of two there are
// `divisions` sizes, evenly spaced; small requests are not rounded.
size_t RoundUpToDivision(size_t bytes) {
  constexpr size_t kUnit = 512;
  if (bytes <= kUnit) return bytes;  // for any setting
  const size_t divisions = VersionedSettings::Divisions(bytes);
  if (divisions <= 1 || bytes <= kUnit * divisions) return bytes;
  const size_t step = std::bit_floor(bytes) / divisions;
  return step == 0 ? bytes : RoundUp(bytes, step);
}

bool ReusesInCaptures() { return VersionedSettings::ReusesInCaptures(); }

double FractionOfCard() { return VersionedSettings::FractionOfCard(); }

int64_t LargestSplit() { return static_cast<int64_t>(VersionedSettings::LargestSplit()); }

void AddSettings(c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& settings) {
  settings.garbage_collection_threshold = VersionedSettings::GarbageCollectionThreshold();
  settings.max_split_size = VersionedSettings::LargestSplit();
  settings.pinned_num_register_threads = CUDAAllocatorConfig::pinned_num_register_threads();
  settings.expandable_segments = VersionedSettings::HasExpandableSegments();
  settings.release_lock_on_malloc = CUDAAllocatorConfig::release_lock_on_cudamalloc();
  settings.pinned_use_host_register = CUDAAllocatorConfig::pinned_use_cuda_host_register();
  settings.last_allocator_settings = VersionedSettings::Text();
  settings.roundup_power2_divisions = VersionedSettings::AllDivisions();
  AddVersionedSettings(settings);
}

std::string BackendOfSettings() {
  for (const env::Variable variable : {env::kTorchAllocConf, env::kTorchCudaAllocConf}) {
    const char* settings = env::Pointer(variable);
    if (settings == nullptr) continue;
    const bool is_async = std::string_view(settings).find(kAsync) != std::string_view::npos;
    return is_async ? "cudaMallocAsync" : "native";
  }
  return "native";
}

void WarnAboutIgnoredSettings() {
  const std::string settings = VersionedSettings::Text();
  std::string named;
  for (const std::string_view key : kWithoutEffect) {
    if (settings.find(key) == std::string::npos) continue;
    named += (named.empty() ? "" : ", ") + std::string(key);
  }
  if (named.empty()) return;
  std::fprintf(stderr,
               "memtrace: %s in PYTORCH_CUDA_ALLOC_CONF has no effect: memtrace's allocator serves "
               "torch, and its segments always expand.\n",
               named.c_str());
}

}  // namespace memtrace::shim
