// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_SEGMENT_ADDRESSES_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_SEGMENT_ADDRESSES_H_

#include "base/units.h"
#include "tools/analysis/replay/torch/torch_block.h"

namespace memtrace::replay {

// Decides where the driver puts what is requested. The address matters, because best fit breaks
// ties by it.
class SegmentAddresses {
 public:
  static constexpr DeviceAddress kFirst{uint64_t{1} << 62};

  SegmentAddresses() = default;
  SegmentAddresses(const SegmentAddresses&) = delete;
  SegmentAddresses& operator=(const SegmentAddresses&) = delete;
  virtual ~SegmentAddresses() = default;

  virtual DeviceAddress ForSegment(Bytes size, StreamId stream) = 0;
  virtual DeviceAddress ForReservation(Bytes size, StreamId stream) = 0;
  // True if a reservation whose length is not known goes on at `end`.
  virtual bool ContinuesAt(DeviceAddress /*end*/) { return true; }
  virtual void Mapped(const AddressRange& /*range*/) {}
  // Notes that a segment was given back to the driver.
  virtual void Released(const AddressRange& /*segment*/) {}

  // Returns an address that no recorded range has, unless the trace is broken. These ascend and are
  // never used twice.
  DeviceAddress Unused(Bytes size) {
    const DeviceAddress address = next_;
    next_ += size;
    return address;
  }

 private:
  DeviceAddress next_ = kFirst;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_SEGMENT_ADDRESSES_H_
