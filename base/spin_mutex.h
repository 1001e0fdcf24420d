// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_SPIN_MUTEX_H_
#define MEMTRACE_BASE_SPIN_MUTEX_H_

#include <atomic>
#include <chrono>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "base/scoped_lock.h"

namespace memtrace {

// A spin lock for critical sections of about 50 ns, entered a million times a second. It locks with
// one atomic operation and unlocks with a plain store, both inlined; pthread's mutex costs a call
// and a check of its kind for each, a third of the time of an allocation and its free. Unlock wakes
// nobody, because checking for waiters would be a second atomic operation. A waiter spins for about
// as long as the lock is usually held, then yields, then polls every 50 us: the lock is held that
// long only while the driver is asked for memory. Clang proves the ABSL_GUARDED_BY of its users.
// Not absl::Mutex, because the thread sanitizer misreads the one in Debian's Abseil.
class ABSL_LOCKABLE SpinMutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    if (is_held_.exchange(true, std::memory_order_acquire)) LockHeld();
  }
  // Returns false, without waiting, if it is held.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return TryLockIfFree(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { is_held_.store(false, std::memory_order_release); }

 private:
  static constexpr int kLongestPause = 256;
  static constexpr int kYields = 20;
  static constexpr std::chrono::microseconds kSleep{50};

  bool TryLockIfFree() {
    return !is_held_.load(std::memory_order_relaxed) &&
           !is_held_.exchange(true, std::memory_order_acquire);
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
    while (!TryLockIfFree()) std::this_thread::sleep_for(kSleep);
  }

  std::atomic<bool> is_held_ = false;
};

using SpinMutexLock = ScopedLock<SpinMutex>;

}  // namespace memtrace

#endif  // MEMTRACE_BASE_SPIN_MUTEX_H_
