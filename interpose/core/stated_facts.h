// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STATED_FACTS_H_
#define MEMTRACE_INTERPOSE_CORE_STATED_FACTS_H_

#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "base/mutex.h"

namespace memtrace {

// The facts that a program states about itself before there is a trace: those of the header, and
// annotations, of which the last value of each key counts.
//
// Thread rule: any thread.
class StatedFacts {
 public:
  using Facts = std::map<std::string, std::string>;

  // States a fact of the header; has no effect once there is a trace.
  void SetInfo(std::string key, std::string value) {
    const MutexLock lock(mutex_);
    info_[std::move(key)] = std::move(value);
  }
  Facts info() const {
    const MutexLock lock(mutex_);
    return info_;
  }

  // Keeps an annotation for the trace. Returns false if they were passed on already.
  bool Keep(std::string key, std::string value) {
    const MutexLock lock(mutex_);
    if (is_passed_on_) return false;
    kept_[std::move(key)] = std::move(value);
    return true;
  }
  // Passes on what was kept, once. Calls of Keep() in other threads wait for `take`.
  void PassOn(absl::FunctionRef<void(const Facts&)> take) {
    const MutexLock lock(mutex_);
    take(kept_);
    kept_.clear();
    is_passed_on_ = true;
  }

  // For a fork, so that the child finds consistent data.
  void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  mutable Mutex mutex_;
  Facts info_ ABSL_GUARDED_BY(mutex_);
  Facts kept_ ABSL_GUARDED_BY(mutex_);
  bool is_passed_on_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STATED_FACTS_H_
