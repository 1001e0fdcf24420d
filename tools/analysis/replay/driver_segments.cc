// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/driver_segments.h"

#include "tools/analysis/replay/torch/torch_settings.h"

namespace memtrace::replay {

DeviceAddress DriverSegments::ForSegment(Bytes size, StreamId /*stream*/) {
  const DeviceAddress address = heap_.Take(RoundUp(size, TorchSettings::kSegmentUnit));
  return address.is_null() ? Unused(size) : address;
}

DeviceAddress DriverSegments::ForReservation(Bytes size, StreamId /*stream*/) {
  return Unused(size);
}

void DriverSegments::Released(const AddressRange& segment) {
  if (segment.begin < kEnd) {
    heap_.GiveBack(segment.begin, RoundUp(segment.size(), TorchSettings::kSegmentUnit));
  }
}

}  // namespace memtrace::replay
