// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_MUTEX_H_
#define MEMTRACE_BASE_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"
#include "base/scoped_lock.h"

namespace memtrace {

// std::mutex with Clang's annotations: what is ABSL_GUARDED_BY one is proven to be so.
// base/spin_mutex.h has the one for what is held for nanoseconds. Its functions have the standard's
// names too, so that std::condition_variable_any can wait with it.
class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { Lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { Unlock(); }

 private:
  std::mutex mutex_;
};

using MutexLock = ScopedLock<Mutex>;

}  // namespace memtrace

#endif  // MEMTRACE_BASE_MUTEX_H_
