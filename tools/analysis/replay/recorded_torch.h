// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_TORCH_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_TORCH_H_

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/recorded_segments.h"
#include "tools/analysis/replay/torch/torch_policy.h"

namespace memtrace::replay {

// torch's own allocator of one card on the recorded course: the driver's answers are the recorded
// ones, and a block can be put where it was recorded. After Settle(), its memory is the recorded
// memory, as far as that is free here.
//
// Thread rule: one thread at a time.
class RecordedTorch {
 public:
  explicit RecordedTorch(const TorchSettings& settings)
      : policy_({.settings = settings}, &segments_) {}
  RecordedTorch(const RecordedTorch&) = delete;
  RecordedTorch& operator=(const RecordedTorch&) = delete;

  TorchPolicy& policy() { return policy_; }
  const TorchPolicy& policy() const { return policy_; }
  // The recorded mappings that were not requested yet; more are noted here as they are read.
  RecordedSegments& segments() { return segments_; }

  bool HasFree(const Request& request);  // so that nothing is requested from the driver
  bool CanGrow(const Request& request);  // its pool has a reservation
  // True if growth would find enough memory that is already mapped.
  bool GrowsIntoMapped(const Request& request);
  // A trace does not say that a pool is not to be split, but the first block of such a pool is as
  // large as its segment. `block` is the recorded one of the request.
  void InferPoolSplitting(const Request& request, const AddressRange& block);

  // Serves a request after the cache was emptied for it: torch does not look at its free blocks
  // again.
  std::optional<Placed> AllocateByGrowth(const Request& request);
  // Puts a block where it was recorded; returns nothing if that is not free.
  std::optional<Placed> AllocateAt(const Request& request, DeviceAddress address,
                                   std::optional<Bytes> occupied = std::nullopt);

  // Gives the request's pool the recorded mapping that contains the address, if there is one that
  // was not requested.
  void AddMappingOf(const Request& request, DeviceAddress address);
  // Takes away what was requested and not recorded, and gives `pool` what was recorded and not
  // requested.
  void Settle(uint32_t pool);

 private:
  Bytes Rounded(const Request& request) const { return policy_.settings().Rounded(request.bytes); }
  void Add(const RecordedSegments::Recorded& recorded, uint32_t pool, bool is_small);

  RecordedSegments segments_;
  TorchPolicy policy_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_TORCH_H_
