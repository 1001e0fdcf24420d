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

// What is counted of blocks: their number, their bytes, and the bytes that were asked for.
enum Quantity : size_t { kBlocks, kBytes, kRequested, kQuantities };
using Amounts = std::array<int64_t, kQuantities>;

// Of one block.
constexpr Amounts AmountsOf(Bytes size, Bytes requested) {
  return {1, static_cast<int64_t>(size), static_cast<int64_t>(requested)};
}

// torch counts the small pool, the large pool, and both together.
enum CountedPool : size_t { kLargePool, kSmallPool, kBothPools, kCountedPools };

// What one stream has in use. It may rise to its ceilings without anybody else's knowledge, because
// all ceilings together do not exceed the card's peaks; beyond them the card has to be asked
// (Usage). So streams count without a common lock, and the peaks are exact.
//
// Thread rule: the stream's lock guards it; Usage needs those of all streams.
class UsageShare {
 public:
  bool HasRoomFor(bool small, const Amounts& more) const {
    // Without a branch: the sign of what is left of each. Unsigned, since sizes beyond 2^63 come
    // by; of these it may say yes, and nothing free is as large.
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
  std::array<Amounts, 2> allocated_{};  // ever
};

// What a card has in use, for two of torch's statistics at once: the blocks in use ("allocation"),
// and those together with the freed ones that wait for other streams ("active"). Both rise at an
// allocation only; what was freed is what was allocated and is no more. torch's numbers are worked
// out when somebody asks for them.
//
// Thread rule: the locks of all streams guard it.
class Usage {
 public:
  // Counts `share` from now on; it outlives this.
  void Add(UsageShare& share) { shares_.push_back(&share); }

  // Raises the ceilings of `share` so that it has room, and the peaks with them if they rise.
  void MakeRoom(UsageShare& share, bool small, const Amounts& more);

  // A block that is freed begins, and ends, to wait.
  void Waits(UsageShare& share, bool small, const Amounts& amounts);
  void Waited(bool small, const Amounts& amounts);

  int64_t InUse(Quantity quantity) const;
  int64_t Waiting(Quantity quantity) const;
  StatisticByPool InUseByPool(Quantity quantity) const;
  StatisticByPool ActiveByPool(Quantity quantity) const;

  void ResetPeak();
  void ResetAccumulated();

 private:
  // Of one quantity of one pool.
  struct Sum {
    int64_t used = 0;
    int64_t waiting = 0;
    int64_t allocated = 0;  // ever
    int64_t granted = 0;    // the ceilings
  };
  struct Peaks {
    int64_t used = 0;
    int64_t active = 0;
  };
  Sum SumUp(size_t quantity, size_t pool) const;
  void MakeRoom(UsageShare& share, size_t quantity, size_t pool, int64_t more);
  int64_t Slack(size_t quantity, size_t pool) const;
  void RaisePeaks(size_t quantity, size_t pool);
  template <typename Print>
  StatisticByPool ByPool(size_t quantity, Print print) const;

  std::vector<UsageShare*> shares_;
  std::array<Amounts, 2> waiting_{};  // by pool
  std::array<std::array<Peaks, kCountedPools>, kQuantities> peaks_{};
  std::array<std::array<Sum, kCountedPools>, kQuantities> at_reset_{};  // of accumulated figures
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_USAGE_H_
