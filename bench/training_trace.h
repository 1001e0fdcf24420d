// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_TRAINING_TRACE_H_
#define MEMTRACE_BENCH_TRAINING_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace memtrace {

struct TrainingTraceOptions {
  uint64_t events = 1'000'000;  // as a reader counts them; the last step is completed
  bool out_of_memory = false;   // the last step fails
};

// Writes the trace of an imaginary training, by the trace's own writer: a transformer of 48 layers
// with permanent parameters, gradients and states (some 5,000 blocks, with labels), and activations
// that are allocated and freed in each step, with one stream for compute and one for copies, for
// which some frees wait. It has some 580 call stacks of 30 frames. Equal options give equal events.
//
// Errors: the writer's, with the path.
absl::Status WriteTrainingTrace(const std::string& path, const TrainingTraceOptions& options);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_TRAINING_TRACE_H_
