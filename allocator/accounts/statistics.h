// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_STATISTICS_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_STATISTICS_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace memtrace {

// One statistic of torch.cuda.memory_stats() with its four values.
struct Statistic {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;  // the sum of all increases
  int64_t freed = 0;      // the sum of all decreases

  void Add(int64_t amount) { amount > 0 ? Increase(amount) : Decrease(-amount); }
  // Increase and Decrease are Add for callers that know the sign. REQUIRES: amount is not negative.
  void Increase(int64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
  void Decrease(int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void ResetPeak() { peak = current; }
  void ResetAccumulated() { allocated = freed = 0; }
};

// A statistic of all blocks, and of the blocks of the small pool (requests up to 1 MiB) and of the
// large pool.
struct StatisticByPool {
  Statistic all, small_pool, large_pool;

  Statistic& of(bool small) { return small ? small_pool : large_pool; }
  void Add(bool small, int64_t amount) {
    all.Add(amount);
    of(small).Add(amount);
  }
  void Increase(bool small, int64_t amount) {
    all.Increase(amount);
    of(small).Increase(amount);
  }
  void Decrease(bool small, int64_t amount) {
    all.Decrease(amount);
    of(small).Decrease(amount);
  }
  void ResetPeak() {
    for (Statistic* one : {&all, &small_pool, &large_pool}) one->ResetPeak();
  }
  void ResetAccumulated() {
    for (Statistic* one : {&all, &small_pool, &large_pool}) one->ResetAccumulated();
  }
};

// Names and meanings are those of torch.cuda.memory_stats().
struct Statistics {
  StatisticByPool allocation, segment, active, inactive_split;
  StatisticByPool allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes,
      requested_bytes;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
  int64_t num_sync_all_streams = 0;
  int64_t num_device_alloc = 0;
  int64_t num_device_free = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_STATISTICS_H_
