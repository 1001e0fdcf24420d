// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/as_recorded.h"

#include <utility>

namespace memtrace::replay {
namespace {

TorchSettings SettingsOf(const RecordedRun& run) {
  TorchSettings settings = run.settings;
  settings.expands = run.policy == PolicyKind::kTorchExpandable;
  settings.gc_threshold = 0;  // what was collected is recorded
  return settings;
}

template <typename Payload>
DeviceAddress AddressOf(const Payload& payload) {
  return DeviceAddress{payload.address};
}

template <typename Payload>
AddressRange RangeOf(const Payload& payload) {
  return AddressRange::Of(AddressOf(payload), payload.size);
}

Request RequestOf(const trace::Allocate& block) {
  return {block.requested, StreamId{block.stream}, block.pool};
}

}  // namespace

AsRecorded::AsRecorded(const RecordedRun& run, int32_t device, const PlacementSink& sink)
    : device_(device), sink_(sink), torch_(SettingsOf(run)), says_pools_(run.says_pools) {}

void AsRecorded::See(const trace::Event& event) {
  lives_.Apply(event.payload, [&](const auto& happened) { Apply(event.sequence, happened); });
}

void AsRecorded::Apply(uint64_t sequence, const Lives::Born& born) {
  const trace::Allocate& block = born.allocation;
  ++allocations_;
  free_requested_ = {};
  if (is_beginning_) Settle(0);
  ApplyPendingAt(AddressOf(block));
  Request request = RequestOf(block);
  const Before before = FindPool(block, request);
  const std::optional<Placed> placed = Judge(block, request, before);
  if (!placed) return;
  born.block = placed->block;
  if (sink_) sink_(sequence, device_, *placed);
}

AsRecorded::Before AsRecorded::FindPool(const trace::Allocate& block, Request& request) {
  if (says_pools_) return ApplyPendingFor(request);
  const std::optional<uint32_t> known = pools_.OfKnown(block);
  request.pool = known.value_or(0);
  const Before before = ApplyPendingFor(request);
  if (!known) request.pool = pools_.OfNew(block, before.fitted);
  return before;
}

AsRecorded::Before AsRecorded::ApplyPendingFor(const Request& request) {
  Before before;
  before.gave_back = !deferred_.empty();
  before.fitted = torch_.HasFree(request);
  ApplyPending(/*memory_too=*/false);
  before.gave_memory_back = !deferred_.empty();
  before.fitted_after_frees = before.fitted || torch_.HasFree(request);
  ApplyPending();
  return before;
}

// When a request is refused, torch empties the cache and goes on without another look at free
// blocks. In a trace that looks the same as a program that empties the cache and then makes a
// request. It was the former if memory was requested although something fits, or if nothing fitted
// before and no memory was requested now.
std::optional<Placed> AsRecorded::Predict(const Request& request, const Before& before) {
  bool is_retry = std::exchange(has_failed_once_, false);
  if (torch_.segments().pending().empty()) {
    is_retry = is_retry || (before.gave_memory_back && !before.fitted_after_frees &&
                            torch_.GrowsIntoMapped(request));
  } else {
    is_retry = is_retry || (before.gave_back && torch_.HasFree(request));
  }
  return is_retry ? torch_.AllocateByGrowth(request) : torch_.policy().Allocate(request);
}

std::optional<Placed> AsRecorded::Judge(const trace::Allocate& block, const Request& request,
                                        const Before& before) {
  if (request.pool != 0) {
    torch_.InferPoolSplitting(request, AddressRange::Of(AddressOf(block), block.allocated));
  }
  std::optional<Placed> placed = Predict(request, before);
  const bool is_right = placed && placed->address == AddressOf(block);
  if (placed && !is_right) torch_.policy().Free(placed->block);
  Settle(request.pool);
  if (is_right) ++placed_;
  if (is_right || torch_.policy().heap().segments().IsMapped(AddressOf(block))) ++compared_;
  return is_right ? placed : torch_.AllocateAt(request, AddressOf(block));
}

void AsRecorded::Apply(uint64_t, const trace::Resume&) {
  ApplyPending();
  Settle(0);
  is_beginning_ = true;
}

void AsRecorded::Apply(uint64_t, const Lives::Found& found) {
  const trace::Allocate& block = found.alive.block;
  const Request request = RequestOf(block);
  ApplyPending();
  is_beginning_ = true;
  torch_.AddMappingOf(request, AddressOf(block));
  const auto placed = torch_.AllocateAt(request, AddressOf(block), block.allocated);
  if (!placed) return;
  found.block = placed->block;
  if (found.alive.waiting != 0) torch_.policy().RequestFree(placed->block);
}

// If only the end of a block is recorded, its free is requested then. A block whose address is
// given again goes at once, because the trace does not say when it went.
void AsRecorded::Apply(uint64_t, const Lives::LetGo& let_go) {
  if (let_go.by == analysis::FreeBy::kReuse) {
    if (let_go.block) torch_.policy().RequestFree(*let_go.block);
  } else {
    RequestFree(AddressOf(let_go), let_go.block);
  }
}

void AsRecorded::Apply(uint64_t, const Lives::Ended& ended) {
  if (ended.by == analysis::FreeBy::kReuse) return CompleteFree(ended.block);
  EndFree(AddressOf(ended), ended.block);
}

void AsRecorded::Apply(uint64_t, const Lives::Stray& stray) {
  if (stray.by == analysis::FreeBy::kRequest) return RequestFree(AddressOf(stray), std::nullopt);
  EndFree(AddressOf(stray), std::nullopt);
}

void AsRecorded::RequestFree(DeviceAddress address, const std::optional<BlockNumber>& block) {
  ApplyPending();
  Settle(0);
  free_requested_ = address;
  if (block) torch_.policy().RequestFree(*block);
}

void AsRecorded::EndFree(DeviceAddress address, const std::optional<BlockNumber>& block) {
  Release release{.is_memory = false, .range = AddressRange::Of(address, 0), .block = block};
  if (free_requested_ == address) return CompleteFree(release.block);
  Defer(release);
}

void AsRecorded::Apply(uint64_t, const trace::Map& map) {
  if (map.size == 0 || map.address + map.size < map.address) return;
  torch_.segments().Note({.range = RangeOf(map), .stream = StreamId{map.stream}});
}

void AsRecorded::Apply(uint64_t, const trace::Unmap& unmap) {
  Defer({.is_memory = true, .range = RangeOf(unmap), .block = std::nullopt});
}

// Memory that the request did get before it failed stays.
void AsRecorded::Apply(uint64_t, const trace::OutOfMemory&) {
  ApplyPending();
  Settle(0);
  has_failed_once_ = false;
  ++failures_;
}

void AsRecorded::Defer(const Release& release) {
  free_requested_ = {};
  if (!torch_.segments().pending().empty()) {
    ApplyPending();
    Settle(0);
    has_failed_once_ = true;
  }
  deferred_.push_back(release);
}

void AsRecorded::ApplyPending(bool memory_too) {
  std::vector<Release> kept;
  for (Release& release : deferred_) {
    if (!release.is_memory) {
      CompleteFree(release.block);
    } else if (memory_too) {
      torch_.policy().cache().Release(release.range);
    } else {
      kept.push_back(release);
    }
  }
  deferred_.swap(kept);
}

// Completes the frees of blocks that began where a block begins now. They were carried out before
// it was requested, whatever the other frees were for.
void AsRecorded::ApplyPendingAt(DeviceAddress address) {
  for (Release& release : deferred_)
    if (!release.is_memory && release.range.begin == address) CompleteFree(release.block);
}

void AsRecorded::CompleteFree(std::optional<BlockNumber>& block) {
  if (block) torch_.policy().CompleteFree(*block);
  block.reset();
}

void AsRecorded::Settle(uint32_t pool) {
  is_beginning_ = false;
  torch_.Settle(pool);
}

}  // namespace memtrace::replay
