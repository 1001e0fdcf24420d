// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_9_VERSIONED_SETTINGS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_9_VERSIONED_SETTINGS_H_

#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "interpose/torch/minors/settings_in_one_class.h"

namespace memtrace::shim {

struct VersionedSettings : SettingsInOneClass {
  static bool ReusesInCaptures() { return Config::graph_capture_record_stream_reuse(); }
};

inline void AddVersionedSettings(c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& settings) {
  settings.graph_capture_record_stream_reuse = VersionedSettings::ReusesInCaptures();
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_9_VERSIONED_SETTINGS_H_
