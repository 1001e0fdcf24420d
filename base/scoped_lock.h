// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_SCOPED_LOCK_H_
#define MEMTRACE_BASE_SCOPED_LOCK_H_

#include "absl/base/thread_annotations.h"

namespace memtrace {

// Holds any of our locks (MutexLock, SpinMutexLock) during its lifetime, with Clang's annotations.
template <typename Lockable>
class ABSL_SCOPED_LOCKABLE ScopedLock {
 public:
  explicit ScopedLock(Lockable& lock) ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) : lock_(lock) {
    lock_.Lock();
  }
  ~ScopedLock() ABSL_UNLOCK_FUNCTION() { lock_.Unlock(); }
  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;

 private:
  Lockable& lock_;
};

}  // namespace memtrace

#endif  // MEMTRACE_BASE_SCOPED_LOCK_H_
