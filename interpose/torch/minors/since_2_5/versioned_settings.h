// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_SETTINGS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_SETTINGS_H_

#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "interpose/torch/minors/settings_in_one_class.h"

namespace memtrace::shim {

struct VersionedSettings : SettingsInOneClass {
  static bool ReusesInCaptures() { return false; }  // there is no such setting before 2.9
};

// The snapshot already has all settings of this torch.
inline void AddVersionedSettings(
    c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& /*settings*/) {}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_SETTINGS_H_
