// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PLANNING_REQUEST_LOG_H_
#define MEMTRACE_TOOLS_ANALYSIS_PLANNING_REQUEST_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/units.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// A large block of one stream.
struct RequestedBlock {
  static constexpr size_t kNever = ~size_t{0};

  Bytes size = 0;  // rounded
  // The number of blocks of the stream that had been requested when this one could be used again;
  // kNever if it never could.
  size_t death = kNever;
};

// The requests of a run on one stream of a card.
struct StreamRequests {
  int32_t device = 0;
  uint64_t handle = 0;
  std::vector<RequestedBlock> blocks;  // in the order in which they were requested
};

// The large requests of the default pools, from which a memory plan is made, by card and stream, in
// the order in which streams first request memory.
class RequestLog {
 public:
  // `is_ours`: memtrace's allocator served the run, so that blocks have the sizes they will have
  // again.
  static RequestLog Of(const EventSource& source, bool is_ours);

  // The place of a block in the log.
  struct Place {
    size_t stream = 0;
    size_t block = 0;
  };
  // `size` is rounded. Small requests are only summed up and have no place.
  std::optional<Place> Allocate(int32_t device, uint64_t stream, Bytes size);
  // Notes that the block can be used again.
  void Free(const Place& place);
  // Notes a request that was not served.
  void Fail(int32_t device, uint64_t stream, Bytes size);

  // Notes bytes that the allocator maps on a card, or unmaps (less than 0).
  void Map(int32_t device, int64_t bytes);

  const std::vector<StreamRequests>& streams() const { return streams_; }
  // Returns all requested bytes, including small requests and a large one that a card ends in.
  Bytes requested() const { return requested_; }
  // Returns the most bytes that were mapped on each card.
  const std::map<int32_t, Bytes>& reserved() const { return reserved_; }
  // True if the card's last large request failed; it is then the last one of its stream.
  bool EndsInFailure(int32_t device) const { return failed_.contains(device); }

 private:
  StreamRequests& StreamOf(int32_t device, uint64_t stream);

  std::vector<StreamRequests> streams_;
  absl::flat_hash_map<int32_t, size_t> failed_;  // card -> stream
  absl::flat_hash_map<int32_t, int64_t> mapped_;
  std::map<int32_t, Bytes> reserved_;
  Bytes requested_ = 0;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PLANNING_REQUEST_LOG_H_
