// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/device_variables.h"

#include <algorithm>

#include "base/mutex.h"

namespace memtrace::card {

void DeviceVariables::Register(const void* shadow, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  variables_[shadow].bytes = bytes;
}

Result DeviceVariables::Find(const void* shadow, int device, Address* begin, std::uint64_t* bytes) {
  const MutexLock lock(mutex_);
  const auto found = variables_.find(shadow);
  if (found == variables_.end()) return Result::kInvalidSymbol;
  Variable& variable = found->second;
  *bytes = variable.bytes;
  const auto copy = variable.copies.find(device);
  if (copy != variable.copies.end()) {
    *begin = copy->second;
    return Result::kSuccess;
  }
  const std::uint64_t least = std::max<std::uint64_t>(variable.bytes, 1);
  const Result result = heap_.Allocate(device, least, begin);
  if (result == Result::kSuccess) variable.copies.emplace(device, *begin);
  return result;
}

}  // namespace memtrace::card
