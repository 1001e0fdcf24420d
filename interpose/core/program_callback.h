// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PROGRAM_CALLBACK_H_
#define MEMTRACE_INTERPOSE_CORE_PROGRAM_CALLBACK_H_

#include "base/mutex.h"

namespace memtrace {

// A function of the program, such as one of Python's, that may be set and removed while threads
// call it.
class ProgramCallback {
 public:
  using Function = void (*)(void* user);

  // Null removes the function; a thread that is about to call it may still do so.
  void Set(Function function, void* user) {
    const MutexLock lock(mutex_);
    function_ = function;
    user_ = user;
  }

  // Calls the function without holding a lock; returns false if there is none.
  bool Call() {
    Function function = nullptr;
    void* user = nullptr;
    {
      const MutexLock lock(mutex_);
      function = function_;
      user = user_;
    }
    if (function != nullptr) function(user);
    return function != nullptr;
  }

  // For a fork, so that the child finds consistent data.
  void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  Mutex mutex_;  // guards the members below
  Function function_ = nullptr;
  void* user_ = nullptr;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PROGRAM_CALLBACK_H_
