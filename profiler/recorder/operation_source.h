// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_OPERATION_SOURCE_H_
#define MEMTRACE_PROFILER_RECORDER_OPERATION_SOURCE_H_

#include <cstdint>

namespace memtrace::recorder {

// A differentiable operation as its framework numbers it: the operations of a thread ascend in the
// order in which they ran forward.
struct Operation {
  static constexpr uint64_t kNoNumber = ~uint64_t{0};  // torch's AccumulateGrad: has no forward

  uint64_t thread = 0;    // the thread that ran it forward; 0: no operation
  uint64_t sequence = 0;  // its number in that thread
  friend bool operator==(const Operation&, const Operation&) = default;
};

// A framework with backward passes, asked about the calling thread. Thread rule: any thread;
// its functions must not block, allocate, or call back.
class OperationSource {
 public:
  virtual ~OperationSource() = default;

  // Returns the operation whose backward is running on this thread.
  virtual Operation Running() const = 0;
  // Returns the next operation that this thread will run forward.
  virtual Operation Next() const = 0;
  // True if this thread's operations are currently recorded for a backward pass.
  virtual bool IsRecording() const = 0;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_OPERATION_SOURCE_H_
