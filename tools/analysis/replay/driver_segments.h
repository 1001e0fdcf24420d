// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_DRIVER_SEGMENTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_DRIVER_SEGMENTS_H_

#include "interpose/simulated_card/spec/heap_addresses.h"
#include "tools/analysis/replay/segment_addresses.h"

namespace memtrace::replay {

// The addresses that a Linux driver would return, for a replay that leaves the recorded course:
// those of cudaMalloc by the card's own rule (heap_addresses.h), those of reservations in ascending
// order.
class DriverSegments : public SegmentAddresses {
 public:
  DeviceAddress ForSegment(Bytes size, StreamId stream) override;
  DeviceAddress ForReservation(Bytes size, StreamId stream) override;
  void Released(const AddressRange& segment) override;

 private:
  static constexpr DeviceAddress kBegin{uint64_t{1} << 60};
  static constexpr DeviceAddress kEnd = kBegin + (Bytes{1} << 46);

  card::HeapAddresses heap_{kBegin, kEnd};
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_DRIVER_SEGMENTS_H_
