// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_SEGMENT_ADDRESSES_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_SEGMENT_ADDRESSES_H_

#include "base/units.h"
#include "tools/analysis/replay/torch_block.h"

namespace memtrace::replay {

// Where the driver puts what it is asked for. Best fit breaks ties by address, so that it matters.
// This one answers with addresses that ascend and are never used twice.
class SegmentAddresses {
 public:
  static constexpr DeviceAddress kFirst = DeviceAddress{1} << 62;

  SegmentAddresses() = default;
  SegmentAddresses(const SegmentAddresses&) = delete;
  SegmentAddresses& operator=(const SegmentAddresses&) = delete;
  virtual ~SegmentAddresses() = default;

  virtual DeviceAddress ForSegment(Bytes size, StreamId /*stream*/) { return Unused(size); }
  virtual DeviceAddress ForReservation(Bytes size, StreamId /*stream*/) { return Unused(size); }
  // Whether a reservation whose length is not known goes on at `end`.
  virtual bool GoesOnAt(DeviceAddress /*end*/) { return true; }
  virtual void Mapped(const AddressRange& /*range*/) {}

  // That no recorded one is, if the trace is not broken.
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
