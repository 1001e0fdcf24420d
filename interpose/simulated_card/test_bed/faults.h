// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_FAULTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_FAULTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace memtrace::card {

// Memory faults of a program, which a real card would answer with corrupted data, a dead context,
// or by luck not at all. Every fault is counted, the first ones are kept as sentences. Safe from
// any thread.
class Faults {
 public:
  static constexpr std::size_t kMostKept = 100;

  void Count(std::string sentence);
  std::uint64_t Total() const;
  // Visits the faults in the order in which they happened; `visit` is called without the lock.
  void Visit(const std::function<void(const std::string&)>& visit) const;

 private:
  mutable Mutex mutex_;
  std::uint64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_FAULTS_H_
