// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/recorded_segments.h"

#include <algorithm>

namespace memtrace::replay {

DeviceAddress RecordedSegments::ForSegment(Bytes size, StreamId stream) {
  for (const Recorded& recorded : pending_) {
    if (recorded.range.size() == size && recorded.stream == stream) return recorded.range.begin;
  }
  return Unused(size);
}

DeviceAddress RecordedSegments::ForReservation(Bytes size, StreamId stream) {
  for (const Recorded& recorded : pending_) {
    if (recorded.stream == stream) return recorded.range.begin;
  }
  return Unused(size);
}

bool RecordedSegments::ContinuesAt(DeviceAddress end) {
  return pending_.empty() || pending_.front().range.begin == end;
}

std::optional<RecordedSegments::Recorded> RecordedSegments::TakeAt(DeviceAddress address) {
  for (auto recorded = pending_.begin(); recorded != pending_.end(); ++recorded) {
    if (!recorded->range.Contains(address)) continue;
    const Recorded found = *recorded;
    pending_.erase(recorded);
    return found;
  }
  return std::nullopt;
}

void RecordedSegments::Mapped(const AddressRange& range) {
  const auto found =
      std::find_if(pending_.begin(), pending_.end(),
                   [&range](const Recorded& recorded) { return recorded.range == range; });
  if (found == pending_.end()) {
    not_recorded_.push_back(range);
  } else {
    pending_.erase(found);
  }
}

}  // namespace memtrace::replay
