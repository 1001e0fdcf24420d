// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_FALLBACK_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_FALLBACK_H_

#include "interpose/torch/host_values/answers.h"
#include "interpose/torch/host_values/card_contents.h"
#include "interpose/torch/host_values/policy.h"

namespace memtrace::shim {

// True if torch, or a library in it, itself handles one of our dispatch keys.
bool IsDispatchKeyTaken();

// Registers with torch's dispatcher for the life of the process: from then on, every operator of a
// thread that has entered goes through us. Call it once; its arguments are never destroyed.
// REQUIRES: the place is not taken.
void RegisterFallback(const CardContents& card, const HostValuesPolicy& policy, Answers& answers);

// From now on, the calling thread's operators go through us. REQUIRES: registered.
void EnterFallback();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_FALLBACK_H_
