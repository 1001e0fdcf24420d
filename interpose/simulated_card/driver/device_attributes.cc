// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "interpose/simulated_card/driver/driver_api.h"

namespace memtrace::card {
namespace {

// From the CUDA programming guide, "technical specifications per compute capability".
struct Limits {
  int compute_capability;  // major * 10 + minor
  int multiprocessors;     // of the usual card, if the profile does not say
  int threads_per_multiprocessor;
  int shared_memory_per_multiprocessor;
};

constexpr Limits kLimits[] = {
    {70, 80, 2048, 98304},    {75, 40, 1024, 65536},    {80, 108, 2048, 167936},
    {86, 84, 1536, 102400},   {89, 142, 1536, 102400},  {90, 132, 2048, 233472},
    {100, 148, 2048, 233472}, {103, 148, 2048, 233472}, {120, 170, 1536, 102400},
};

// The driver reserves one KiB of a multiprocessor's shared memory in each block.
constexpr int kReservedSharedMemory = 1024;

// Returns the row of this capability or of the nearest lower one.
const Limits& LimitsOf(const CardSpec& spec) {
  const int wanted = spec.compute_capability_major * 10 + spec.compute_capability_minor;
  const Limits* best = std::begin(kLimits);
  for (const Limits& row : kLimits) {
    if (row.compute_capability <= wanted) best = &row;
  }
  return *best;
}

int BlockLimit(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return std::numeric_limits<int>::max();
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return std::numeric_limits<int>::max();
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
      return 32;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 50 << 20;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return kReservedSharedMemory;
    default:
      return 0;
  }
}

// True for features that every card has. Features that are not listed are absent, such as
// multicast.
bool HasFeature(CUdevice_attribute attribute) {
  constexpr CUdevice_attribute kFeatures[] = {
      CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
      CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS,
      CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
      CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_ECC_ENABLED,
      CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
      CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
  };
  return std::find(std::begin(kFeatures), std::end(kFeatures), attribute) != std::end(kFeatures);
}

}  // namespace

int DeviceAttribute(const Card& card, CUdevice_attribute attribute) {
  const CardSpec& spec = card.Spec();
  const Limits& limits = LimitsOf(spec);
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return spec.compute_capability_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return spec.compute_capability_minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return spec.multiprocessors != 0 ? spec.multiprocessors : limits.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return limits.threads_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return limits.shared_memory_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return limits.shared_memory_per_multiprocessor - kReservedSharedMemory;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return static_cast<int>(card.sharing().LedgerIndex()) + 1;  // the same number as in NVML
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 2;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1'400'000;  // kHz
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1'200'000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    default:
      return HasFeature(attribute) ? 1 : BlockLimit(attribute);
  }
}

}  // namespace memtrace::card
