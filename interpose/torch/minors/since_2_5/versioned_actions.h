// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ACTIONS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ACTIONS_H_

#include <c10/util/Exception.h>

#include <string>

#include "interpose/torch/minors/history_words.h"

namespace memtrace::shim {

// Only torch 2.11 and later name the actions that a history skips.
inline TraceEntry::Action ActionOf(const std::string& name) {
  TORCH_CHECK(false, "a history of this torch cannot skip ", name);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ACTIONS_H_
