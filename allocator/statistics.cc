// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/statistics.h"

#include <algorithm>

namespace memtrace {

void Statistic::Add(int64_t amount) {
  current += amount;
  peak = std::max(peak, current);
  (amount > 0 ? allocated : freed) += amount > 0 ? amount : -amount;
}

void StatisticByPool::Add(bool small, int64_t amount) {
  all.Add(amount);
  (small ? small_pool : large_pool).Add(amount);
}

}  // namespace memtrace
