// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MAPPED_SEGMENTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MAPPED_SEGMENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "profiler/trace/events/event.h"
#include "tools/analysis/source/moment.h"

namespace memtrace::analysis {

// The unit in which a driver maps memory: what is free in whole ones could be mapped elsewhere.
inline constexpr uint64_t kGranule = uint64_t{2} << 20;
// The unit in which torch's own allocator maps and unmaps expandable segments of large blocks
// (kLargeBuffer, c10/core/AllocatorConfig.h).
inline constexpr uint64_t kLargePage = uint64_t{20} << 20;

// A range of a card's addresses that has memory.
struct MappedSegment {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
  bool expandable = false;   // inside a reserved range; otherwise as the driver gave it
  uint64_t page = kGranule;  // an expandable one is unmapped in multiples of this, from its begin
  uint32_t pool = 0;         // private, of its latest block; 0: the default pool, or no block yet
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
  // The mapping that ends behind the address, and begins at or before it; null: none.
  MappedSegment* At(int32_t device, uint64_t address);
  void NotePool(const trace::Allocate& allocation);
  uint32_t PoolOf(const MappedSegment& segment) const;
  void Map(const trace::Map& map, const Moment& now);
  void Unmap(const trace::Unmap& unmap, const Moment& now,
             const std::function<void(const MappedSegment&)>& ended);

  uint64_t events_ = 0;
  bool has_pools_ = false;              // a block was a private pool's
  std::map<Place, uint64_t> reserved_;  // -> end
  std::map<Place, MappedSegment> segments_;
  std::map<Place, uint32_t> pools_;  // private ones, by device and ReservedAt()
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MAPPED_SEGMENTS_H_
