// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_FRAMEWORK_OPERATIONS_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_FRAMEWORK_OPERATIONS_H_

#include "interpose/core/memtrace.h"
#include "profiler/recorder/operation_source.h"

namespace memtrace {

// Adapts a framework's functions to the recorder's interface. Thread rule: Set before the recorder
// is made; then any thread.
class FrameworkOperations final : public recorder::OperationSource {
 public:
  // Ignored unless all three functions are given.
  void Set(const memtrace_operations& functions) {
    const bool is_whole = functions.running != nullptr && functions.next != nullptr &&
                          functions.is_recording != nullptr;
    if (is_whole) functions_ = functions;
  }
  bool is_set() const { return functions_.running != nullptr; }

  recorder::Operation Running() const override {
    recorder::Operation operation;
    functions_.running(&operation.thread, &operation.sequence);
    return operation;
  }
  recorder::Operation Next() const override {
    recorder::Operation operation;
    functions_.next(&operation.thread, &operation.sequence);
    return operation;
  }
  bool IsRecording() const override { return functions_.is_recording() != 0; }

 private:
  memtrace_operations functions_{};
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_FRAMEWORK_OPERATIONS_H_
