// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A library for LD_PRELOAD: after slow_announcements(), a thread that wakes another computes for a
// while before it goes on, as one does that loses its processor there. So autograd's thread still
// cleans up when the caller of backward goes on.
#include <dlfcn.h>
#include <pthread.h>

#include <chrono>

#define PROBE_API extern "C" __attribute__((visibility("default")))

namespace {

constexpr auto kDelay = std::chrono::milliseconds(200);
thread_local bool is_slow = false;

void Compute() {
  const auto end = std::chrono::steady_clock::now() + kDelay;
  while (std::chrono::steady_clock::now() < end) continue;
}

}  // namespace

// Called by the thread that shall be slow, and applies to it alone.
PROBE_API void slow_announcements() { is_slow = true; }

// The version of pthread_cond_signal and pthread_cond_broadcast that programs have used since
// glibc 2.3.2.
#define SLOWLY(function)                                                                         \
  PROBE_API int function(pthread_cond_t* condition) noexcept {                                   \
    static auto* const kFunction =                                                               \
        reinterpret_cast<int (*)(pthread_cond_t*)>(dlvsym(RTLD_NEXT, #function, "GLIBC_2.3.2")); \
    const int result = kFunction(condition);                                                     \
    if (is_slow) Compute();                                                                      \
    return result;                                                                               \
  }
SLOWLY(pthread_cond_signal)
SLOWLY(pthread_cond_broadcast)
