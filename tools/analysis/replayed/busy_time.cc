// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/busy_time.h"

#include <algorithm>
#include <iterator>

namespace memtrace::analysis {

void BusyTime::Add(uint64_t begin, uint64_t end) {
  begin = std::max(begin, settled_until_);
  if (end <= begin) return;
  auto next = intervals_.upper_bound(begin);
  if (next != intervals_.begin() && std::prev(next)->second >= begin) --next;
  while (next != intervals_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    total_ -= next->second - next->first;
    next = intervals_.erase(next);
  }
  intervals_.emplace_hint(next, begin, end);
  total_ += end - begin;
  if (intervals_.size() <= kMost) return;
  settled_until_ = intervals_.begin()->second;
  intervals_.erase(intervals_.begin());
}

}  // namespace memtrace::analysis
