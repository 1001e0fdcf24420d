// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/tally.h"

namespace memtrace {

Tally::Part Tally::All() const {
  const Part& large = parts_[0];
  const Part& small = parts_[1];
  Part all = all_;
  all.used = large.used + small.used;
  all.waiting = large.waiting + small.waiting;
  all.allocated = large.allocated + small.allocated;
  all.used_at_reset = large.used_at_reset + small.used_at_reset;
  all.waiting_at_reset = large.waiting_at_reset + small.waiting_at_reset;
  return all;
}

void Tally::ResetPeak() {
  for (Part& part : parts_) {
    part.peak = part.used;
    part.active_peak = part.used + part.waiting;
  }
  all_.peak = used();
  all_.active_peak = used() + waiting();
}

void Tally::ResetAccumulated() {
  for (Part& part : parts_) {
    part.allocated = 0;
    part.used_at_reset = part.used;
    part.waiting_at_reset = part.waiting;
  }
}

}  // namespace memtrace
