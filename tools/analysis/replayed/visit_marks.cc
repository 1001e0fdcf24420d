// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/visit_marks.h"

#include <algorithm>

namespace memtrace::analysis {

void VisitMarks::Add(uint64_t event, uint64_t in_use) {
  const Visit visit{++count_, event, in_use};
  last_[count_ % kLast] = visit;
  const auto is_kept = [this](const Visit& each) {
    return each.number <= kFirst || ((each.number - 1) & (stride_ - 1)) == 0;
  };
  if (!is_kept(visit)) return;
  spread_.push_back(visit);
  if (spread_.size() < kMostSpread) return;
  stride_ *= 2;
  std::erase_if(spread_, [&is_kept](const Visit& each) { return !is_kept(each); });
}

std::vector<Visit> VisitMarks::Until(uint64_t end) const {
  const uint64_t first_of_last = count_ - std::min<uint64_t>(count_, kLast) + 1;
  std::vector<Visit> visits;
  for (const Visit& visit : spread_)
    if (visit.number < first_of_last && visit.event <= end) visits.push_back(visit);
  for (uint64_t number = first_of_last; number <= count_; ++number)
    if (last_[number % kLast].event <= end) visits.push_back(last_[number % kLast]);
  return visits;
}

}  // namespace memtrace::analysis
