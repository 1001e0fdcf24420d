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

// Numbers for names, for the C ABI: tags and modules are named before there is a trace whose
// numbers could be used. Grows with the number of different names; nothing is ever removed. Thread
// rule: any thread.
class Names {
 public:
  uint32_t Intern(std::string_view name);    // 0 for ""
  std::string_view Text(uint32_t id) const;  // "" for a number never given

  // Around a fork, which must not copy a half-made table or a lock that nobody will let go.
  void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  mutable Mutex mutex_;
  std::deque<std::string> texts_;  // a deque never moves its elements
  absl::flat_hash_map<std::string_view, uint32_t> ids_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_NAMES_H_
