// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/as_recorded.h"

#include <utility>
#include <variant>

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
  std::visit([&](const auto& payload) { Apply(event.sequence, payload); }, event.payload);
}

void AsRecorded::Apply(uint64_t sequence, const trace::Allocate& block) {
  ++allocations_;
  free_requested_ = {};
  if (is_beginning_) Settle(0);
  Forget(AddressOf(block));
  Request request = RequestOf(block);
  const Before before = FindPool(block, request);
  const std::optional<Placed> placed = Judge(block, request, before);
  if (!placed) return;
  live_[AddressOf(block)] = placed->block;
  if (sink_) sink_(sequence, device_, *placed);
}

AsRecorded::Before AsRecorded::FindPool(const trace::Allocate& block, Request& request) {
  if (says_pools_) return CarryOutFor(request);
  const std::optional<uint32_t> known = pools_.OfKnown(block);
  request.pool = known.value_or(0);
  const Before before = CarryOutFor(request);
  if (!known) request.pool = pools_.OfNew(block, before.fitted);
  return before;
}

AsRecorded::Before AsRecorded::CarryOutFor(const Request& request) {
  Before before;
  before.gave_back = !deferred_.empty();
  before.fitted = torch_.HasFree(request);
  CarryOut(/*memory_too=*/false);
  before.gave_memory_back = !deferred_.empty();
  before.fitted_after_frees = before.fitted || torch_.HasFree(request);
  CarryOut();
  return before;
}

// A request that was refused has the cache emptied and goes on without another look at what lies
// free; that looks the same as a program that empties the cache and then asks. It was the former if
// memory was asked for although something fits, or if nothing fitted before and no memory was asked
// for now.
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
    torch_.LearnWhetherItSplits(request, AddressRange::Of(AddressOf(block), block.allocated));
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
  CarryOut();
  Settle(0);
  is_beginning_ = true;
}

void AsRecorded::Apply(uint64_t, const trace::Alive& alive) {
  const trace::Allocate& block = alive.block;
  const Request request = RequestOf(block);
  CarryOut();
  is_beginning_ = true;
  torch_.AddMappingOf(request, AddressOf(block));
  Forget(AddressOf(block));
  const auto placed = torch_.AllocateAt(request, AddressOf(block), block.allocated);
  if (!placed) return;
  live_[AddressOf(block)] = placed->block;
  if (alive.waiting == 0) return;
  torch_.policy().RequestFree(placed->block);
  waiting_[AddressOf(block)] = placed->block;
  live_.erase(AddressOf(block));
}

void AsRecorded::Apply(uint64_t, const trace::FreeRequested& free) {
  CarryOut();
  Settle(0);
  free_requested_ = AddressOf(free);
  const auto found = live_.find(AddressOf(free));
  if (found == live_.end()) return;
  torch_.policy().RequestFree(found->second);
  waiting_[AddressOf(free)] = found->second;
  live_.erase(found);
}

void AsRecorded::Apply(uint64_t, const trace::FreeCompleted& free) {
  if (free_requested_ == AddressOf(free)) return CompleteFree(AddressOf(free));
  Defer({.is_memory = false, .range = AddressRange::Of(AddressOf(free), 0)});
}

void AsRecorded::Apply(uint64_t, const trace::Map& map) {
  if (map.size == 0 || map.address + map.size < map.address) return;
  torch_.segments().Note({.range = RangeOf(map), .stream = StreamId{map.stream}});
}

void AsRecorded::Apply(uint64_t, const trace::Unmap& unmap) {
  Defer({.is_memory = true, .range = RangeOf(unmap)});
}

// The memory that it did get before it failed stays.
void AsRecorded::Apply(uint64_t, const trace::OutOfMemory&) {
  CarryOut();
  Settle(0);
  has_failed_once_ = false;
  ++failures_;
}

void AsRecorded::Defer(const Release& release) {
  free_requested_ = {};
  if (!torch_.segments().pending().empty()) {
    CarryOut();
    Settle(0);
    has_failed_once_ = true;
  }
  deferred_.push_back(release);
}

void AsRecorded::CarryOut(bool memory_too) {
  std::vector<Release> kept;
  for (const Release& release : deferred_) {
    if (!release.is_memory) {
      CompleteFree(release.range.begin);
    } else if (memory_too) {
      torch_.policy().cache().Release(release.range);
    } else {
      kept.push_back(release);
    }
  }
  deferred_.swap(kept);
}

void AsRecorded::CompleteFree(DeviceAddress address) {
  const auto found = waiting_.find(address);
  if (found == waiting_.end()) return;
  torch_.policy().CompleteFree(found->second);
  waiting_.erase(found);
}

void AsRecorded::Settle(uint32_t pool) {
  is_beginning_ = false;
  torch_.Settle(pool);
}

// A block whose free was lost.
void AsRecorded::Forget(DeviceAddress address) {
  CompleteFree(address);
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  torch_.policy().Free(found->second);
  live_.erase(found);
}

}  // namespace memtrace::replay
