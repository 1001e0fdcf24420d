// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PROGRAM_CALLBACKS_H_
#define MEMTRACE_INTERPOSE_CORE_PROGRAM_CALLBACKS_H_

#include "interpose/core/program_callback.h"

namespace memtrace {

// The functions that the program, such as memtrace's Python part, registers to be called.
//
// Thread rule: any thread.
class ProgramCallbacks {
 public:
  // Called before an out-of-memory is written into the trace.
  ProgramCallback& before_out_of_memory() { return before_out_of_memory_; }
  // Frees memory that is no longer needed.
  ProgramCallback& collector() { return collector_; }

  // Calls the collector; returns false if there is none or if this thread already runs it.
  bool Collect() {
    static thread_local bool is_collecting = false;
    if (is_collecting) return false;
    is_collecting = true;
    const bool has_run = collector_.Call();
    is_collecting = false;
    return has_run;
  }

  // For a fork, so that the child finds consistent data.
  void LockForFork() {
    before_out_of_memory_.LockForFork();
    collector_.LockForFork();
  }
  void UnlockAfterFork() {
    collector_.UnlockAfterFork();
    before_out_of_memory_.UnlockAfterFork();
  }

 private:
  ProgramCallback before_out_of_memory_;
  ProgramCallback collector_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PROGRAM_CALLBACKS_H_
