// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_11_VERSIONED_ACTIONS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_11_VERSIONED_ACTIONS_H_

#include <c10/core/CachingDeviceAllocator.h>

#include <string>

#include "interpose/torch/minors/history_words.h"

namespace memtrace::shim {

// Throws torch's error unless a history knows the action.
inline TraceEntry::Action ActionOf(const std::string& name) {
  return c10::CachingDeviceAllocator::parseTraceEntryAction(name);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_11_VERSIONED_ACTIONS_H_
