// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/ledger.h"

#include <algorithm>

#include "allocator/heap/parts/wake_need.h"

namespace memtrace {

AllocatorLedger LedgerOf(const SegmentGroups& groups, const Accounting& accounting) {
  AllocatorLedger ledger;
  ledger.reserved = accounting.mapping().reserved();
  const Usage& usage = accounting.blocks().usage();
  ledger.live_requested = static_cast<Bytes>(usage.InUse(kRequested));
  ledger.live_allocated = static_cast<Bytes>(usage.InUse(kBytes));
  ledger.stream_wait = static_cast<Bytes>(usage.Waiting(kBytes));
  ledger.on_host = accounting.mapping().on_host();
  ledger.host_copies = accounting.host().copies;
  ledger.host_pooled = accounting.host().pooled;
  for (const auto& group : groups.all()) {
    const Bytes reclaimable = groups.Reclaimable(*group);
    const bool is_pinned = group->pool() != nullptr && group->pool()->pinned();
    ledger.cached += reclaimable;
    ledger.asleep += NeedOfWake(*group);
    for (const auto& segment : group->segments().all()) {
      ledger.cached += segment->blocks().leaving();
      ledger.holes += segment->spill().on_card_beside();
      // Memory that a sleep could not unmap serves nobody until the next try.
      const bool is_asleep = segment->sleep().is_asleep();
      (is_pinned ? ledger.pinned : ledger.holes) +=
          is_asleep ? segment->spill().on_card()
                    : segment->blocks().free().bytes() + segment->blocks().lent();
      if (is_asleep) continue;
      ledger.largest_hole = std::max(ledger.largest_hole, segment->blocks().free().largest());
    }
    if (!is_pinned) ledger.holes -= reclaimable;
  }
  return ledger;
}

}  // namespace memtrace
