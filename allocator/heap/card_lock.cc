// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/card_lock.h"

#include <thread>

namespace memtrace {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kPause{50};

}  // namespace

void CardLock::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.Lock();
  quick_.LockAll();
}

bool CardLock::TryLockFor(std::chrono::milliseconds limit) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const auto until = Clock::now() + limit;
  while (!mutex_.TryLock()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(kPause);
  }
  quick_.LockAll();
  return true;
}

void CardLock::Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  quick_.UnlockAll(heap_.is_quiet());
  mutex_.Unlock();
}

}  // namespace memtrace
