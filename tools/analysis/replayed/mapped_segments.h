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

// The unit in which a driver maps memory. Whole units that are free could be mapped elsewhere.
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

// The mappings of a trace, every event of which has to be applied. A mapping that is unmapped in
// part is two or three ranges from then on.
class MappedSegments {
 public:
  using Ended = std::function<void(const MappedSegment&)>;

  // Calls `ended` with each range that the event unmaps, and the time when it did.
  void Apply(const trace::Event& event, const Ended& ended);

  // Visits mappings in order of device and address. `joined`: neighbours of one stream in one
  // reserved range are one, as in torch's snapshots.
  void ForEach(bool joined, const std::function<void(const MappedSegment&)>& visit) const;

  // True if an address of the card lies in a reserved range.
  bool IsReserved(int32_t device, uint64_t address) const {
    return ReservedAt(device, address) != 0;
  }

 private:
  using Place = std::pair<int32_t, uint64_t>;

  uint64_t ReservedAt(int32_t device, uint64_t address) const;  // its begin + 1; 0: none
  // Returns the mapping that begins at or before the address and ends behind it; null if there is
  // none.
  MappedSegment* At(int32_t device, uint64_t address);
  void NotePool(const trace::Allocate& allocation);
  uint32_t PoolOf(const MappedSegment& segment) const;
  void Apply(const trace::Reserve& reserve, const Moment& now, const Ended& ended);
  void Apply(const trace::Map& map, const Moment& now, const Ended& ended);
  void Apply(const trace::Unmap& unmap, const Moment& now, const Ended& ended);
  void Apply(const trace::Allocate& allocation, const Moment& /*now*/, const Ended& /*ended*/) {
    NotePool(allocation);
  }
  void Apply(const trace::Alive& alive, const Moment& /*now*/, const Ended& /*ended*/) {
    NotePool(alive.block);
  }
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::FreeRequested, trace::FreeCompleted, trace::Relabel, trace::Step,
                         trace::PhaseChange, trace::TagChange, trace::Annotate, trace::OutOfMemory,
                         trace::CardSample, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                         trace::Resume, trace::Activity, trace::Moved>
                Ignored>
  void Apply(const Ignored&, const Moment&, const Ended&) {}

  uint64_t events_ = 0;
  bool has_pools_ = false;              // a block was a private pool's
  std::map<Place, uint64_t> reserved_;  // -> end
  std::map<Place, MappedSegment> segments_;
  std::map<Place, uint32_t> pools_;  // private ones, by device and ReservedAt()
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MAPPED_SEGMENTS_H_
