// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/entry_order.h"

namespace memtrace::interchange {

std::optional<EntryOrder::Place> EntryOrder::Next() {
  const SnapshotEntry* earliest = nullptr;
  size_t device = 0;
  for (size_t i = 0; i < next_.size(); ++i) {
    const std::vector<SnapshotEntry>& trace = records_.devices[i].trace;
    if (next_[i] == trace.size()) continue;
    const SnapshotEntry& next = trace[next_[i]];
    if (earliest != nullptr && earliest->time_us <= next.time_us) continue;
    earliest = &next;
    device = i;
  }
  if (earliest == nullptr) return std::nullopt;
  return Place{device, next_[device]++};
}

}  // namespace memtrace::interchange
