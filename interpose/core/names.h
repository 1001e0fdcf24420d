// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_NAMES_H_
#define MEMTRACE_INTERPOSE_CORE_NAMES_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"

namespace memtrace {

// Maps names to numbers for the C ABI, because tags and modules are named before there is a trace
// with its own numbers. Grows with the number of different names; nothing is ever removed. Thread
// rule: any thread.
class Names {
 public:
  uint32_t Intern(std::string_view name);    // 0 for ""
  std::string_view Text(uint32_t id) const;  // "" for a number never given

  // Held across a fork, so that the child gets neither a half-made table nor a lock that is never
  // released.
  void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  mutable Mutex mutex_;
  std::deque<std::string> texts_;  // a deque never moves its elements
  absl::flat_hash_map<std::string_view, uint32_t> ids_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_NAMES_H_
