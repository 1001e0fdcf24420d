// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_OPERATION_SOURCE_H_
#define MEMTRACE_PROFILER_RECORDER_OPERATION_SOURCE_H_

#include <cstdint>

namespace memtrace::recorder {

// A differentiable operation as its framework numbers it: operations of a thread ascend in the
// order in which they ran forward.
struct Operation {
  static constexpr uint64_t kNoNumber = ~uint64_t{0};  // torch's AccumulateGrad: has no forward

  uint64_t thread = 0;    // that ran it forward; 0: there is no operation
  uint64_t sequence = 0;  // in that thread
  friend bool operator==(const Operation&, const Operation&) = default;
};

// What a framework with a backward pass knows about the calling thread. Thread rule: any thread;
// neither blocks, allocates, nor calls back.
class OperationSource {
 public:
  virtual ~OperationSource() = default;

  // Whose backward runs on this thread now.
  virtual Operation Running() const = 0;
  // The next operation that this thread will run forward.
  virtual Operation Next() const = 0;
  // Whether operations of this thread are kept for a backward pass at the moment.
  virtual bool IsRecording() const = 0;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_OPERATION_SOURCE_H_
