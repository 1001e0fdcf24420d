// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounts/usage.h"

#include <algorithm>

// Invariants, for each quantity and for large, small and both pools:
// 1. no share has more in use than its ceiling;
// 2. the sum of the ceilings is at most the peak of the amount in use;
// 3. that sum plus the waiting amount is at most the peak of the active amount.
// So as long as nobody passes a ceiling, no peak is passed.
namespace memtrace {

void Usage::MakeRoom(UsageShare& share, bool small, const Amounts& more) {
  for (size_t q = 0; q < kQuantities; ++q) {
    MakeRoom(share, q, small ? kSmallPool : kLargePool, more[q]);
    MakeRoom(share, q, kBothPools, more[q]);
  }
}

void Usage::MakeRoom(UsageShare& share, size_t quantity, size_t pool, int64_t more) {
  int64_t& ceiling = share.ceiling_[pool][quantity];
  const int64_t wanted = share.Used(pool, quantity) + more;
  if (wanted <= ceiling) return;
  ceiling = wanted;
  if (Slack(quantity, pool) < 0) {
    // The other streams give back their unused room, so that all ceilings together equal the use.
    for (UsageShare* other : shares_) {
      if (other != &share) other->ceiling_[pool][quantity] = other->Used(pool, quantity);
    }
    RaisePeaks(quantity, pool);
  }
  // With other streams, takes only half of the slack, because they would otherwise take it from
  // each other again and again.
  const int64_t slack = Slack(quantity, pool);
  ceiling += shares_.size() == 1 ? slack : (slack + 1) / 2;
}

void Usage::RaisePeaks(size_t quantity, size_t pool) {
  const Sum sum = SumUp(quantity, pool);
  Peaks& peaks = peaks_[quantity][pool];
  peaks.used = std::max(peaks.used, sum.granted);
  peaks.active = std::max(peaks.active, sum.granted + sum.waiting);
}

int64_t Usage::Slack(size_t quantity, size_t pool) const {
  const Sum sum = SumUp(quantity, pool);
  const Peaks& peaks = peaks_[quantity][pool];
  const int64_t of_active = peaks.active - sum.granted - sum.waiting;
  // torch has no statistic for requested bytes in use, only for active ones.
  return quantity == kRequested ? of_active : std::min(of_active, peaks.used - sum.granted);
}

void Usage::Waits(UsageShare& share, bool small, const Amounts& amounts) {
  for (size_t q = 0; q < kQuantities; ++q) {
    share.used_[small][q] -= amounts[q];
    // A waiting block leaves no room that could be used again.
    share.ceiling_[small][q] -= amounts[q];
    share.ceiling_[kBothPools][q] -= amounts[q];
    waiting_[small][q] += amounts[q];
  }
}

void Usage::Waited(bool small, const Amounts& amounts) {
  for (size_t q = 0; q < kQuantities; ++q) waiting_[small][q] -= amounts[q];
}

Usage::Sum Usage::SumUp(size_t quantity, size_t pool) const {
  Sum sum;
  for (const UsageShare* share : shares_) {
    sum.used += share->Used(pool, quantity);
    sum.granted += share->ceiling_[pool][quantity];
    for (size_t part = 0; part < kBothPools; ++part) {
      if (part == pool || pool == kBothPools) sum.allocated += share->allocated_[part][quantity];
    }
  }
  for (size_t part = 0; part < kBothPools; ++part) {
    if (part == pool || pool == kBothPools) sum.waiting += waiting_[part][quantity];
  }
  return sum;
}

int64_t Usage::InUse(Quantity quantity) const { return SumUp(quantity, kBothPools).used; }

int64_t Usage::Waiting(Quantity quantity) const { return SumUp(quantity, kBothPools).waiting; }

template <typename Print>
StatisticByPool Usage::ByPool(size_t quantity, Print print) const {
  const auto one = [&](size_t pool) {
    const Sum now = SumUp(quantity, pool);
    const Sum& reset = at_reset_[quantity][pool];
    const Peaks& earlier = earlier_[quantity][pool];
    Peaks peaks = peaks_[quantity][pool];
    peaks.used = std::max(peaks.used, earlier.used);
    peaks.active = std::max(peaks.active, earlier.active);
    Statistic printed = print(now, reset, peaks);
    printed.allocated = now.allocated - reset.allocated;
    printed.freed += printed.allocated;
    return printed;
  };
  return {.all = one(kBothPools), .small_pool = one(kSmallPool), .large_pool = one(kLargePool)};
}

StatisticByPool Usage::InUseByPool(Quantity quantity) const {
  return ByPool(quantity, [](const Sum& now, const Sum& reset, const Peaks& peaks) {
    return Statistic{.current = now.used, .peak = peaks.used, .freed = reset.used - now.used};
  });
}

StatisticByPool Usage::ActiveByPool(Quantity quantity) const {
  return ByPool(quantity, [](const Sum& now, const Sum& reset, const Peaks& peaks) {
    const int64_t active = now.used + now.waiting;
    return Statistic{
        .current = active, .peak = peaks.active, .freed = reset.used + reset.waiting - active};
  });
}

void Usage::ResetPeak() {
  taken_ = std::max(taken_, peaks_[kBytes][kBothPools].active);
  earlier_ = {};
  BeginPeaks();
}

int64_t Usage::TakePeak() {
  const int64_t taken = std::max(taken_, peaks_[kBytes][kBothPools].active);
  for (size_t q = 0; q < kQuantities; ++q) {
    for (size_t pool = 0; pool < kCountedPools; ++pool) {
      Peaks& earlier = earlier_[q][pool];
      earlier.used = std::max(earlier.used, peaks_[q][pool].used);
      earlier.active = std::max(earlier.active, peaks_[q][pool].active);
    }
  }
  BeginPeaks();
  taken_ = 0;
  return taken;
}

// Sets the peaks to the current values.
void Usage::BeginPeaks() {
  peaks_ = {};
  for (size_t q = 0; q < kQuantities; ++q) {
    for (size_t pool = 0; pool < kCountedPools; ++pool) {
      for (UsageShare* share : shares_) share->ceiling_[pool][q] = share->Used(pool, q);
      RaisePeaks(q, pool);
    }
  }
}

void Usage::ResetAccumulated() {
  for (size_t q = 0; q < kQuantities; ++q) {
    for (size_t pool = 0; pool < kCountedPools; ++pool) at_reset_[q][pool] = SumUp(q, pool);
  }
}

}  // namespace memtrace
