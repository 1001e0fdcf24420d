// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/test_bed/unsupported_calls.h"

#include "base/mutex.h"

namespace memtrace::card {

bool UnsupportedCalls::Count(const char* name) {
  const MutexLock lock(mutex_);
  return ++counts_[name] == 1;
}

std::uint64_t UnsupportedCalls::Total() const {
  const MutexLock lock(mutex_);
  std::uint64_t total = 0;
  for (const auto& [name, count] : counts_) total += count;
  return total;
}

void UnsupportedCalls::Visit(
    const std::function<void(const std::string&, std::uint64_t)>& visit) const {
  std::map<std::string, std::uint64_t> copy;
  {
    const MutexLock lock(mutex_);
    copy = counts_;
  }
  for (const auto& [name, count] : copy) visit(name, count);
}

UnsupportedCalls& UnsupportedCalls::OfProcess() {
  static auto* calls = new UnsupportedCalls;
  return *calls;
}

}  // namespace memtrace::card
