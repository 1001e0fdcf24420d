// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_PROGRAM_CAPTURE_ORDER_H_
#define MEMTRACE_TESTS_ALLOCATOR_PROGRAM_CAPTURE_ORDER_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/units.h"

namespace memtrace::program {

// The order of uses in one capture, by counting: for each stream, how many uses of each other
// stream come before its next node. Knows nothing of nodes.
class CaptureOrder {
 public:
  void Begin(StreamId stream) { before_[stream]; }
  // Makes `stream` wait for `other`.
  void Join(StreamId stream, StreamId other) {
    std::map<StreamId, uint64_t>& own = before_[stream];
    for (const auto& [used_by, uses] : before_[other]) own[used_by] = std::max(own[used_by], uses);
  }
  void Use(StreamId stream, DeviceAddress begin, DeviceAddress end) {
    uses_.push_back({stream, ++before_[stream][stream], begin, end});
  }

  // True if all uses of these addresses come before the next node of `stream`.
  bool IsFree(StreamId stream, DeviceAddress begin, DeviceAddress end) const {
    return std::all_of(uses_.begin(), uses_.end(), [&](const UseOf& use) {
      return use.end <= begin || end <= use.begin || Before(stream, use.stream) >= use.number;
    });
  }

  bool Has(StreamId stream) const { return before_.contains(stream); }
  std::vector<StreamId> Streams() const {
    std::vector<StreamId> streams;
    streams.reserve(before_.size());
    for (const auto& [stream, uses] : before_) streams.push_back(stream);
    return streams;
  }

 private:
  struct UseOf {
    StreamId stream;
    uint64_t number;  // number of the use on its stream, from 1
    DeviceAddress begin, end;
  };

  uint64_t Before(StreamId stream, StreamId used_by) const {
    const auto& own = before_.at(stream);
    const auto found = own.find(used_by);
    return found == own.end() ? 0 : found->second;
  }

  std::map<StreamId, std::map<StreamId, uint64_t>> before_;
  std::vector<UseOf> uses_;
};

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_PROGRAM_CAPTURE_ORDER_H_
