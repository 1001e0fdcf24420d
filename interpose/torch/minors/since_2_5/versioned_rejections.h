// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_REJECTIONS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_REJECTIONS_H_

#include <c10/core/Device.h>

#include <cstdint>

#include "interpose/core/memtrace.h"

namespace memtrace::shim {

// Returns the most bytes of the card that a request may grow to before it is rejected at once. 0:
// no limit; torch 2.12 introduced the setting.
inline uint64_t RejectAbove(c10::DeviceIndex /*device*/) { return 0; }
inline void NoteRejection(const memtrace_out_of_memory& /*rejection*/) {}
inline void ForgetRejections(c10::DeviceIndex /*device*/) {}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_REJECTIONS_H_
