// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_TRAINING_REQUESTS_H_
#define MEMTRACE_TOOLS_BENCH_TRAINING_REQUESTS_H_

#include <cstdint>

#include "interpose/bench/request_sequence.h"

namespace memtrace::bench {

// A training of a transformer decoder, as far as memory depends on it.
struct TrainingShape {
  uint64_t layers = 12;
  uint64_t width = 768;
  uint64_t vocabulary = 50'257;
  uint64_t batch = 8;
  uint64_t least_length = 128;  // each step has a length between these two, a multiple of 8
  uint64_t most_length = 1'024;
  bool recomputes = false;    // layers keep their inputs, and run again in the backward pass
  uint64_t adapter_rank = 0;  // only adapters of LoRA are trained; 0: all parameters are
  uint64_t parameter_bytes = 4;
  uint32_t steps = 20;
};

// Computes the requests of such a training with AdamW: parameters, then steps of forward, backward
// and update. The sizes are those of the tensors; temporaries of kernels are not modelled.
RequestSequence TrainingRequests(const TrainingShape& shape);

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_TRAINING_REQUESTS_H_
