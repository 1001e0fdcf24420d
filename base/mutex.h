// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_MUTEX_H_
#define MEMTRACE_BASE_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"
#include "base/scoped_lock.h"

namespace memtrace {

// std::mutex with Clang's annotations, so that Clang proves each ABSL_GUARDED_BY. For locks that
// are held only for nanoseconds see base/spin_mutex.h. It also has functions with the standard's
// names, so that std::condition_variable_any can wait with it.
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
