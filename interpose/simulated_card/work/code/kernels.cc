// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/kernels.h"

#include <utility>
#include <vector>

#include "base/mutex.h"
#include "interpose/simulated_card/memory/reading_thread.h"

namespace memtrace::card {

void Kernels::Register(const void* host_function, const char* name) {
  const MutexLock lock(mutex_);
  registrations_.push_back({host_function, name});
}

void Kernels::ForgetPossibleWrites(const std::vector<Address>* given) {
  if (writes_ == nullptr || ReadingThread().operators > 0) return;
  if (given != nullptr) {
    writes_->MayWriteThrough(*given);
  } else {
    writes_->MayWriteAnything();
  }
}

const char* Kernels::CountLaunch(const void* host_function, const std::vector<Address>* given) {
  ++launches_;
  ForgetPossibleWrites(given);
  const MutexLock lock(mutex_);
  const auto known = counts_of_functions_.find(host_function);
  if (known != counts_of_functions_.end()) {
    ++known->second->second;
    return known->second->first.c_str();
  }
  for (; indexed_ < registrations_.size(); ++indexed_) {
    names_[registrations_[indexed_].host_function] = registrations_[indexed_].name;
  }
  const auto name = names_.find(host_function);
  const char* called = name == names_.end() ? "(unregistered)" : name->second;
  // The map's entries do not move when it grows.
  auto& count = *counts_.try_emplace(called, 0).first;
  ++count.second;
  counts_of_functions_.emplace(host_function, &count);
  return count.first.c_str();
}

const char* Kernels::CountCall(const char* name) {
  ++launches_;
  ForgetPossibleWrites(nullptr);
  const MutexLock lock(mutex_);
  auto& count = *counts_.try_emplace(name, 0).first;
  ++count.second;
  return count.first.c_str();
}

void Kernels::Visit(const std::function<void(const std::string&, std::uint64_t)>& visit) const {
  std::vector<std::pair<std::string, std::uint64_t>> copy;
  {
    const MutexLock lock(mutex_);
    copy.assign(counts_.begin(), counts_.end());
  }
  for (const auto& [name, count] : copy) visit(name, count);
}

}  // namespace memtrace::card
