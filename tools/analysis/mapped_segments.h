// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_MAPPED_SEGMENTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_MAPPED_SEGMENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "profiler/trace/event.h"
#include "tools/analysis/moment.h"

namespace memtrace::analysis {

// A range of a card's addresses that has memory.
struct MappedSegment {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
  bool expandable = false;  // inside a reserved range; otherwise as the driver gave it
  Moment mapped;
  std::optional<Moment> unmapped;
};

// The mappings of a trace, of which every event is applied. What is unmapped in part is two or
// three ranges from then on.
class MappedSegments {
 public:
  // `ended` gets each range that is unmapped with the event, and when it was.
  void Apply(const trace::Event& event, const std::function<void(const MappedSegment&)>& ended);

  // In order of device and address. `joined`: neighbours of one stream in one reserved range are
  // one, as torch's snapshots have it.
  void ForEach(bool joined, const std::function<void(const MappedSegment&)>& visit) const;

  // Whether an address of the card lies in a reserved range.
  bool IsReserved(int32_t device, uint64_t address) const {
    return ReservedAt(device, address) != 0;
  }

 private:
  using Place = std::pair<int32_t, uint64_t>;

  uint64_t ReservedAt(int32_t device, uint64_t address) const;  // its begin + 1; 0: none
  void Map(const trace::Map& map, const Moment& now);
  void Unmap(const trace::Unmap& unmap, const Moment& now,
             const std::function<void(const MappedSegment&)>& ended);

  uint64_t events_ = 0;
  std::map<Place, uint64_t> reserved_;  // -> end
  std::map<Place, MappedSegment> segments_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_MAPPED_SEGMENTS_H_
