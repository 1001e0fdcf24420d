// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_TRAINING_TRACE_H_
#define MEMTRACE_BENCH_TRAINING_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace memtrace {

struct TrainingTraceOptions {
  uint64_t events = 1'000'000;  // as a reader counts them; steps are whole, so up to one more
  bool out_of_memory = false;   // the last step fails
};

// Writes the trace of a training that never was, by the trace's own writer: a transformer of 48
// layers whose parameters, gradients and states live (some 5,000 blocks, with labels), whose
// activations come and go with each step, on a stream for compute and one for copies whose frees
// wait for it. Some 580 call stacks of 30 frames. The same options give the same events.
//
// Errors: the writer's, with the path.
absl::Status WriteTrainingTrace(const std::string& path, const TrainingTraceOptions& options);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_TRAINING_TRACE_H_
