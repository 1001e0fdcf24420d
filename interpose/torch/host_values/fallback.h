// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_FALLBACK_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_FALLBACK_H_

#include "interpose/torch/host_values/answers.h"
#include "interpose/torch/host_values/card_contents.h"
#include "interpose/torch/host_values/policy.h"

namespace memtrace::shim {

// Whether torch, or a library in it, handles one of our dispatch keys itself.
bool IsPlaceTaken();

// Registers with torch's dispatcher, for the life of the process: every operator of a thread that
// has entered goes through us. To be called once; what it takes is never destroyed.
// REQUIRES: the place is not taken.
void RegisterFallback(const CardContents& card, const HostValuesPolicy& policy, Answers& answers);

// The calling thread's operators go through us from now on. REQUIRES: registered.
void EnterFallback();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_FALLBACK_H_
