// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/test_bed/faults.h"

#include <utility>

#include "base/mutex.h"

namespace memtrace::card {

void Faults::Count(std::string sentence) {
  const MutexLock lock(mutex_);
  ++total_;
  if (kept_.size() < kMostKept) kept_.push_back(std::move(sentence));
}

std::uint64_t Faults::Total() const {
  const MutexLock lock(mutex_);
  return total_;
}

void Faults::Visit(const std::function<void(const std::string&)>& visit) const {
  std::vector<std::string> copy;
  {
    const MutexLock lock(mutex_);
    copy = kept_;
  }
  for (const std::string& sentence : copy) visit(sentence);
}

}  // namespace memtrace::card
