// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_UNSUPPORTED_CALLS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_UNSUPPORTED_CALLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace memtrace::card {

// Counts calls of functions that the card does not have, by name. Every such call also fails with
// the library's own "not supported", so that the simulation never hides what it cannot do. Safe
// from any thread.
class UnsupportedCalls {
 public:
  // Returns true for the first call of that name.
  bool Count(const char* name);
  std::uint64_t Total() const;
  // Visits the names in sorted order; `visit` is called without the lock.
  void Visit(const std::function<void(const std::string&, std::uint64_t)>& visit) const;

  // The process's only one, with or without cards; never destroyed, because libraries call us until
  // the end.
  static UnsupportedCalls& OfProcess();

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_UNSUPPORTED_CALLS_H_
