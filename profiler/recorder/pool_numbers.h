// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_POOL_NUMBERS_H_
#define MEMTRACE_PROFILER_RECORDER_POOL_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/units.h"

namespace memtrace::recorder {

// Numbers the pools in order of appearance, for the trace: a pool's id is two numbers, and there
// are few pools. 0 is the default pool, and any pool past kMaxPools. Thread rule: one thread at a
// time.
class PoolNumbers {
 public:
  static constexpr size_t kMaxPools = 1 << 16;

  uint32_t Of(const PoolId& pool) {
    if (pool == PoolId{}) return 0;
    const std::pair<uint64_t, uint64_t> key(pool.first, pool.second);
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    if (numbers_.size() >= kMaxPools) return 0;
    const auto number = static_cast<uint32_t>(numbers_.size() + 1);
    return numbers_.emplace(key, number).first->second;
  }

 private:
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, uint32_t> numbers_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_POOL_NUMBERS_H_
