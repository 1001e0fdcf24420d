// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_MUTEX_H_
#define MEMTRACE_ALLOCATOR_MUTEX_H_

#include <atomic>
#include <thread>

#include "absl/base/thread_annotations.h"

namespace memtrace {

// For what is held some 50 ns, a million times a second: one atomic operation to lock and one to
// unlock, in line, where pthread's mutex costs a call and a look at its kind each, a third of what
// a pair of allocation and free takes. Who finds it held looks on for about as long as it is held,
// then lets other threads run, of which one may hold it, and at last sleeps, since waking costs as
// much as twenty pairs (the third mutex of Drepper, "Futexes Are Tricky", 2011, over std::atomic's
// wait). Clang proves what it guards. Not absl::Mutex: the thread sanitizer misreads the one of
// Debian's Abseil.
class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    int free = kFree;
    if (!state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) LockHeld();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) state_.notify_one();
  }

 private:
  enum State : int { kFree, kHeld, kAwaited };  // the last: somebody may sleep
  static constexpr int kLongestPause = 256;
  static constexpr int kYields = 20;

  bool TryLockIfFree() {
    int free = kFree;
    return state_.load(std::memory_order_relaxed) == kFree &&
           state_.compare_exchange_weak(free, kHeld, std::memory_order_acquire);
  }

  __attribute__((noinline)) void LockHeld() {
    for (int pause = 1; pause <= kLongestPause; pause *= 2) {
      for (int i = 0; i < pause; ++i) __builtin_ia32_pause();
      if (TryLockIfFree()) return;
    }
    for (int i = 0; i < kYields; ++i) {
      std::this_thread::yield();
      if (TryLockIfFree()) return;
    }
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) state_.wait(kAwaited);
  }

  std::atomic<int> state_ = kFree;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_MUTEX_H_
