// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_OBSERVED_EXPLANATION_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_OBSERVED_EXPLANATION_H_

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace memtrace {

// Holds the explanation of another allocator's latest out-of-memory until it is put into that
// allocator's own error. Any thread: the error may be made on another one.
class ObservedExplanation {
 public:
  // Never destroyed, because memory may be requested while the process ends.
  static ObservedExplanation& Get() {
    static auto* explanation = new ObservedExplanation;
    return *explanation;
  }

  void Set(std::string text) {
    const MutexLock lock(mutex_);
    text_ = std::move(text);
  }
  // Returns "" if the text was taken already.
  std::string Take() {
    const MutexLock lock(mutex_);
    return std::exchange(text_, "");
  }

 private:
  Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_OBSERVED_EXPLANATION_H_
