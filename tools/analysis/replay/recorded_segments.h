// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_SEGMENTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_SEGMENTS_H_

#include <optional>
#include <utility>
#include <vector>

#include "tools/analysis/replay/segment_addresses.h"

namespace memtrace::replay {

// The driver's answers of a recorded run, for its own replay: memory that was mapped between two
// allocations is what the second one requested. Each answer is given once. If the policy requests
// something else, the answer is an ascending address of ours, and both are remembered as a
// difference.
class RecordedSegments : public SegmentAddresses {
 public:
  struct Recorded {
    AddressRange range;
    StreamId stream{};
    uint32_t pool = 0;
  };

  void Note(const Recorded& mapped) { pending_.push_back(mapped); }

  DeviceAddress ForSegment(Bytes size, StreamId stream) override;
  DeviceAddress ForReservation(Bytes size, StreamId stream) override;
  bool ContinuesAt(DeviceAddress end) override;
  void Mapped(const AddressRange& range) override;

  // Takes the mapping that contains the address; it is no longer requested.
  std::optional<Recorded> TakeAt(DeviceAddress address);
  // Return what was recorded and not requested, and the reverse; both are forgotten.
  std::vector<Recorded> TakeUnrequested() { return std::exchange(pending_, {}); }
  std::vector<AddressRange> TakeUnrecorded() { return std::exchange(not_recorded_, {}); }
  bool is_settled() const { return pending_.empty() && not_recorded_.empty(); }
  const std::vector<Recorded>& pending() const { return pending_; }

 private:
  std::vector<Recorded> pending_;  // in their order; few
  std::vector<AddressRange> not_recorded_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_SEGMENTS_H_
