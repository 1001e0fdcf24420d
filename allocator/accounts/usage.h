// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_USAGE_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_USAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/accounts/statistics.h"
#include "base/units.h"

namespace memtrace {

// The quantities that are counted: the number of blocks, their bytes, and the requested bytes.
enum Quantity : size_t { kBlocks, kBytes, kRequested, kQuantities };
using Amounts = std::array<int64_t, kQuantities>;

// Returns the amounts of a single block.
constexpr Amounts AmountsOf(Bytes size, Bytes requested) {
  return {1, static_cast<int64_t>(size), static_cast<int64_t>(requested)};
}

// torch counts the small pool, the large pool, and both together.
enum CountedPool : size_t { kLargePool, kSmallPool, kBothPools, kCountedPools };

// The blocks that one stream has in use. Its counts may rise to its ceilings without involving
// other streams, because the sum of all ceilings does not exceed the card's peaks; beyond a
// ceiling, Usage must grant more room. So streams count without a common lock, and the peaks are
// exact.
//
// Thread rule: guarded by the stream's lock; Usage needs the locks of all streams.
class UsageShare {
 public:
  bool HasRoomFor(bool small, const Amounts& more) const {
    // Branch-free: ORs the differences, and tests the sign of the result. Unsigned because sizes
    // beyond 2^63 occur; for these it may return true, which is harmless because no free range is
    // that large.
    uint64_t left = 0;
    for (size_t q = 0; q < kQuantities; ++q) {
      left |= Left(ceiling_[small][q], used_[small][q], more[q]);
      left |= Left(ceiling_[kBothPools][q], used_[0][q] + used_[1][q], more[q]);
    }
    return static_cast<int64_t>(left) >= 0;
  }
  // REQUIRES: HasRoomFor(small, more).
  void Allocated(bool small, const Amounts& more) {
    for (size_t q = 0; q < kQuantities; ++q) {
      used_[small][q] += more[q];
      allocated_[small][q] += more[q];
    }
  }
  void Freed(bool small, const Amounts& less) {
    for (size_t q = 0; q < kQuantities; ++q) used_[small][q] -= less[q];
  }

 private:
  friend class Usage;

  static uint64_t Left(int64_t ceiling, int64_t used, int64_t more) {
    return static_cast<uint64_t>(ceiling - used) - static_cast<uint64_t>(more);
  }
  int64_t Used(size_t pool, size_t quantity) const {
    return pool == kBothPools ? used_[0][quantity] + used_[1][quantity] : used_[pool][quantity];
  }

  std::array<Amounts, 2> used_{};
  std::array<Amounts, kCountedPools> ceiling_{};
  std::array<Amounts, 2> allocated_{};  // in total, never reset
};

// The blocks that a card has in use, for two of torch's statistics at once: the blocks in use
// ("allocation"), and these together with the freed ones that wait for other streams ("active").
// Both rise only at an allocation; the freed amount is the allocated amount minus the current one.
// torch's numbers are computed only when they are requested.
//
// Thread rule: guarded by the locks of all streams.
class Usage {
 public:
  // Counts `share` from now on; `share` must outlive this.
  void Add(UsageShare& share) { shares_.push_back(&share); }

  // Raises the ceilings of `share` so that it has room, and the peaks if they rise with them.
  void MakeRoom(UsageShare& share, bool small, const Amounts& more);

  // Called when a freed block begins to wait for other streams, and when it no longer does.
  void Waits(UsageShare& share, bool small, const Amounts& amounts);
  void Waited(bool small, const Amounts& amounts);

  int64_t InUse(Quantity quantity) const;
  int64_t Waiting(Quantity quantity) const;
  StatisticByPool InUseByPool(Quantity quantity) const;
  StatisticByPool ActiveByPool(Quantity quantity) const;

  void ResetPeak();
  void ResetAccumulated();

  // Returns the peak of the active bytes since the last call. The other peaks do not change.
  int64_t TakePeak();

 private:
  // The sums of one quantity over the streams, for one pool.
  struct Sum {
    int64_t used = 0;
    int64_t waiting = 0;
    int64_t allocated = 0;  // in total, never reset
    int64_t granted = 0;    // the sum of the ceilings
  };
  struct Peaks {
    int64_t used = 0;
    int64_t active = 0;
  };
  using AllPeaks = std::array<std::array<Peaks, kCountedPools>, kQuantities>;

  Sum SumUp(size_t quantity, size_t pool) const;
  void BeginPeaks();
  void MakeRoom(UsageShare& share, size_t quantity, size_t pool, int64_t more);
  int64_t Slack(size_t quantity, size_t pool) const;
  void RaisePeaks(size_t quantity, size_t pool);
  template <typename Print>
  StatisticByPool ByPool(size_t quantity, Print print) const;

  std::vector<UsageShare*> shares_;
  std::array<Amounts, 2> waiting_{};  // by pool
  AllPeaks peaks_{};                  // since the last ResetPeak() or TakePeak()
  AllPeaks earlier_{};                // since the last ResetPeak() until the last TakePeak()
  int64_t taken_ = 0;  // the active bytes' peak from the last TakePeak() until a later ResetPeak()
  std::array<std::array<Sum, kCountedPools>, kQuantities> at_reset_{};  // at ResetAccumulated()
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_USAGE_H_
