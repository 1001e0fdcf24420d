// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/launching_threads.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace memtrace {
namespace {

constexpr uint64_t kNever = 0;

// True for the threads in which torch runs backward passes ("pt_autograd_0").
bool IsOfAutograd() {
  std::array<char, 16> name{};
  if (pthread_getname_np(pthread_self(), name.data(), name.size()) != 0) return false;
  return std::string_view(name.data()).starts_with("pt_autograd");
}

using Step = std::atomic<uint64_t>;

struct Known {
  Mutex mutex;
  std::vector<const Step*> threads ABSL_GUARDED_BY(mutex);

  // Never destroyed, because threads may end after static destructors.
  static Known& Get() {
    static auto* known = new Known;
    return *known;
  }
};

// The last step in which this thread has requested memory. It is known while the thread lives.
class OfThread {
 public:
  OfThread() : is_counted_(!IsOfAutograd()) {
    if (!is_counted_) return;
    const MutexLock lock(Known::Get().mutex);
    Known::Get().threads.push_back(&last_);
  }
  ~OfThread() {
    if (!is_counted_) return;
    const MutexLock lock(Known::Get().mutex);
    std::erase(Known::Get().threads, &last_);
  }
  OfThread(const OfThread&) = delete;
  OfThread& operator=(const OfThread&) = delete;

  void Set(uint64_t step) { last_.store(step, std::memory_order_relaxed); }

 private:
  const bool is_counted_;
  Step last_ = kNever;
};

}  // namespace

void LaunchingThreads::NoteThread() {
  static thread_local OfThread thread;
  thread.Set(step.load(std::memory_order_relaxed));
}

int LaunchingThreads::Count() {
  const uint64_t now = step.load(std::memory_order_relaxed);
  Known& known = Known::Get();
  const MutexLock lock(known.mutex);
  return static_cast<int>(
      std::count_if(known.threads.begin(), known.threads.end(), [now](const Step* last) {
        const uint64_t at = last->load(std::memory_order_relaxed);
        return at != kNever && at + 1 >= now;
      }));
}

}  // namespace memtrace
