// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_TALLY_H_
#define MEMTRACE_ALLOCATOR_TALLY_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "allocator/statistics.h"

namespace memtrace {

// One quantity of blocks (their number, their bytes) for two of torch's statistics at once: of the
// blocks in use ("allocation"), and of those together with the freed ones that wait for other
// streams
// ("active"). Both rise at an allocation only, so that is where their peaks are found; what was
// freed is what was allocated and is no more. So an allocation changes two numbers and a free one,
// where the eight that torch prints would be three and two each.
//
// Exact. Thread rule: none, the owner's lock guards it.
class Tally {
 public:
  void Allocated(bool small, int64_t amount) {
    Part& pool = parts_[small];
    pool.used += amount;
    pool.allocated += amount;
    pool.NotePeaks(pool.used, pool.used + pool.waiting);
    const int64_t used = parts_[0].used + parts_[1].used;
    all_.NotePeaks(used, used + parts_[0].waiting + parts_[1].waiting);
  }
  void Freed(bool small, int64_t amount) { parts_[small].used -= amount; }

  // A block that is freed begins, and ends, to wait.
  void Waits(bool small, int64_t amount) {
    parts_[small].used -= amount;
    parts_[small].waiting += amount;
  }
  void Waited(bool small, int64_t amount) { parts_[small].waiting -= amount; }

  int64_t used() const { return parts_[0].used + parts_[1].used; }
  int64_t waiting() const { return parts_[0].waiting + parts_[1].waiting; }

  // What is in use, as torch prints it; and what waits, too.
  StatisticByPool InUse() const { return Print(&Part::InUse); }
  StatisticByPool Active() const { return Print(&Part::Active); }

  void ResetPeak();
  void ResetAccumulated();

 private:
  struct Part {
    int64_t used = 0;
    int64_t waiting = 0;
    int64_t allocated = 0;         // since the reset
    int64_t used_at_reset = 0;     // of the accumulated figures
    int64_t waiting_at_reset = 0;  // likewise
    int64_t peak = 0;
    int64_t active_peak = 0;

    void NotePeaks(int64_t now, int64_t active) {
      peak = std::max(peak, now);
      active_peak = std::max(active_peak, active);
    }
    Statistic InUse() const { return {used, peak, allocated, allocated - (used - used_at_reset)}; }
    Statistic Active() const {
      const int64_t risen = used + waiting - used_at_reset - waiting_at_reset;
      return {used + waiting, active_peak, allocated, allocated - risen};
    }
  };

  // Both pools together; its peaks are its own.
  Part All() const;
  StatisticByPool Print(Statistic (Part::*print)() const) const {
    return {(All().*print)(), (parts_[1].*print)(), (parts_[0].*print)()};
  }

  std::array<Part, 2> parts_{};  // large, small
  Part all_{};                   // peaks only
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_TALLY_H_
