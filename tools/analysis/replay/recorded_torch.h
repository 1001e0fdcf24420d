// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_TORCH_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_TORCH_H_

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/recorded_segments.h"
#include "tools/analysis/replay/torch_policy.h"

namespace memtrace::replay {

// torch's own allocator of one card at the recorded course: the driver's answers are the recorded
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
  // The recorded mappings that nobody asked for yet; more are noted here as they are read.
  RecordedSegments& segments() { return segments_; }

  bool HasFree(const Request& request);  // so that nothing is asked of the driver
  bool CanGrow(const Request& request);  // its pool has a reservation
  // Whether growth would find enough that is mapped already.
  bool GrowsIntoMapped(const Request& request);
  // A trace does not say that a pool is not to be split, but its first block is as large as its
  // segment then. `block` is the recorded one of the request.
  void LearnWhetherItSplits(const Request& request, const AddressRange& block);

  // As a request goes on after the cache was emptied for it: torch does not look at its free
  // blocks again.
  std::optional<Placed> AllocateByGrowth(const Request& request);
  // A block where it was recorded; nothing if that is not free.
  std::optional<Placed> AllocateAt(const Request& request, DeviceAddress address,
                                   std::optional<Bytes> occupied = std::nullopt);

  // Gives the request's pool the recorded mapping that contains the address, if there is one that
  // nobody asked for.
  void AddMappingOf(const Request& request, DeviceAddress address);
  // Takes away what was asked for and not recorded, and gives `pool` what was recorded and not
  // asked for.
  void Settle(uint32_t pool);

 private:
  Bytes Rounded(const Request& request) const { return policy_.settings().Rounded(request.bytes); }
  void Add(const RecordedSegments::Recorded& recorded, uint32_t pool, bool is_small);

  RecordedSegments segments_;
  TorchPolicy policy_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_TORCH_H_
