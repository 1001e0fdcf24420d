// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/cache_rules.h"

#include <algorithm>

namespace memtrace {

void CacheRules::KeepLimit() {
  const Bytes cached = leaving_.Available();
  if (cached > bounds_.limit) GiveBack(cached - bounds_.limit);
}

void CacheRules::EndStep() {
  if (has_limit()) KeepLimit();
  if (bounds_.age == 0) return;
  needs_.push_back(NeedOfStep());
  if (needs_.size() < bounds_.age) return;
  if (needs_.size() > bounds_.age) needs_.pop_front();
  const Bytes needed = *std::max_element(needs_.begin(), needs_.end());
  const Bytes reserved = accounting_.mapping().reserved();
  if (reserved > needed) GiveBack(reserved - needed);
}

Bytes CacheRules::NeedOfStep() {
  const auto peak = static_cast<Bytes>(accounting_.blocks().usage().TakePeak());
  const int64_t growths = accounting_.statistics().num_device_alloc;
  const bool has_grown = growths != growths_;
  growths_ = growths;
  return has_grown ? accounting_.mapping().reserved() : peak;
}

void CacheRules::GiveBack(Bytes bytes) {
  const LeavingMemory::Ticket ticket = leaving_.Start(bytes);
  leaving_.UnmapDone(ticket);
  leaving_.Keep(ticket);
}

}  // namespace memtrace
