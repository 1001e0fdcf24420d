// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/names.h"

#include "base/mutex.h"

namespace memtrace {

uint32_t Names::Intern(std::string_view name) {
  if (name.empty()) return 0;
  const MutexLock lock(mutex_);
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  texts_.emplace_back(name);
  const auto id = static_cast<uint32_t>(texts_.size());
  ids_.emplace(texts_.back(), id);
  return id;
}

std::string_view Names::Text(uint32_t id) const {
  const MutexLock lock(mutex_);
  return id == 0 || id > texts_.size() ? std::string_view() : std::string_view(texts_[id - 1]);
}

}  // namespace memtrace
