// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/as_recorded.h"

#include <utility>
#include <variant>

namespace memtrace::replay {
namespace {

TorchPolicy::Options OptionsOf(const RecordedRun& run) {
  TorchPolicy::Options options{.settings = run.settings};
  options.settings.expands = run.policy == PolicyKind::kTorchExpandable;
  options.settings.gc_threshold = 0;  // what was collected is recorded
  return options;
}

Request RequestOf(const trace::Allocate& block) {
  return {block.requested, StreamId{block.stream}, block.pool};
}

}  // namespace

AsRecorded::AsRecorded(const RecordedRun& run, int32_t device, const PlacementSink& sink)
    : kind_(run.policy),
      device_(device),
      sink_(sink),
      policy_(OptionsOf(run), &segments_),
      pools_(policy_, segments_),
      says_pools_(run.says_pools) {}

void AsRecorded::See(const trace::Event& event) {
  std::visit([&](const auto& payload) { Apply(event.sequence, payload); }, event.payload);
}

void AsRecorded::Apply(uint64_t sequence, const trace::Allocate& block) {
  ++allocations_;
  free_requested_ = 0;
  if (is_beginning_) Settle(0);
  Forget(block.address);
  Request request = RequestOf(block);
  const Before before = FindPool(block, request);
  const std::optional<Placed> placed = Judge(block, request, before);
  if (!placed) return;
  live_[block.address] = placed->block;
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
  before.fitted = policy_.HasFree(request);
  CarryOut(/*memory_too=*/false);
  before.gave_memory_back = !deferred_.empty();
  before.fitted_after_frees = before.fitted || policy_.HasFree(request);
  CarryOut();
  return before;
}

// A request that was refused has the cache emptied and goes on without another look at what lies
// free; that looks the same as a program that empties the cache and then asks. It was the former if
// memory was asked for although something fits, or if nothing fitted before and no memory was asked
// for now.
std::optional<Placed> AsRecorded::Predict(const Request& request, const Before& before) {
  bool is_retry = std::exchange(has_failed_once_, false);
  if (segments_.pending().empty()) {
    is_retry = is_retry || (before.gave_memory_back && !before.fitted_after_frees &&
                            policy_.GrowsIntoMapped(request));
  } else {
    is_retry = is_retry || (before.gave_back && policy_.HasFree(request));
  }
  return is_retry ? policy_.AllocateByGrowth(request) : policy_.Allocate(request);
}

// A trace does not say that a pool is not to be split, but its first block is as large as its
// segment then.
void AsRecorded::LearnWhetherItSplits(const trace::Allocate& block, const Request& request) {
  const TorchSettings& settings = policy_.heap().settings();
  const Bytes rounded = settings.Rounded(block.requested);
  for (const RecordedSegments::Recorded& segment : segments_.pending()) {
    if (segment.range == AddressRange{block.address, block.allocated} &&
        settings.Splits(rounded, block.allocated, TorchSettings::IsSmall(rounded))) {
      policy_.NeverSplit(request);
    }
  }
}

std::optional<Placed> AsRecorded::Judge(const trace::Allocate& block, const Request& request,
                                        const Before& before) {
  if (request.pool != 0) LearnWhetherItSplits(block, request);
  std::optional<Placed> placed = Predict(request, before);
  const bool is_right = placed && placed->address == block.address;
  if (placed && !is_right) policy_.Free(placed->block);
  Settle(request.pool);
  if (is_right) ++placed_;
  if (is_right || policy_.heap().IsMapped(block.address)) ++compared_;
  return is_right ? placed : policy_.AllocateAt(request, block.address);
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
  if (const auto mapped = segments_.TakeAt(block.address)) {
    const Bytes rounded = policy_.heap().settings().Rounded(block.requested);
    AddMapped(*mapped, block.pool, TorchSettings::IsSmall(rounded));
  }
  Forget(block.address);
  const auto placed = policy_.AllocateAt(request, block.address, block.allocated);
  if (!placed) return;
  live_[block.address] = placed->block;
  if (alive.waiting == 0) return;
  policy_.RequestFree(placed->block);
  waiting_[block.address] = placed->block;
  live_.erase(block.address);
}

void AsRecorded::Apply(uint64_t, const trace::FreeRequested& free) {
  CarryOut();
  Settle(0);
  free_requested_ = free.address;
  const auto found = live_.find(free.address);
  if (found == live_.end()) return;
  policy_.RequestFree(found->second);
  waiting_[free.address] = found->second;
  live_.erase(found);
}

void AsRecorded::Apply(uint64_t, const trace::FreeCompleted& free) {
  if (free_requested_ == free.address) return CompleteFree(free.address);
  Defer({.is_memory = false, .range = {free.address, 0}});
}

void AsRecorded::Apply(uint64_t, const trace::Map& map) {
  if (map.size == 0 || map.address + map.size < map.address) return;
  segments_.Note({.range = {map.address, map.size}, .stream = StreamId{map.stream}});
}

void AsRecorded::Apply(uint64_t, const trace::Unmap& unmap) {
  Defer({.is_memory = true, .range = {unmap.address, unmap.size}});
}

// The memory that it did get before it failed stays.
void AsRecorded::Apply(uint64_t, const trace::OutOfMemory&) {
  CarryOut();
  Settle(0);
  has_failed_once_ = false;
  ++failures_;
}

void AsRecorded::Defer(const Release& release) {
  free_requested_ = 0;
  if (!segments_.pending().empty()) {
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
      CompleteFree(release.range.address);
    } else if (memory_too) {
      policy_.RemoveRecorded(release.range);
    } else {
      kept.push_back(release);
    }
  }
  deferred_.swap(kept);
}

void AsRecorded::CompleteFree(uint64_t address) {
  const auto found = waiting_.find(address);
  if (found == waiting_.end()) return;
  policy_.CompleteFree(found->second);
  waiting_.erase(found);
}

void AsRecorded::Settle(uint32_t pool) {
  is_beginning_ = false;
  if (segments_.is_settled()) return;
  for (const AddressRange& range : segments_.TakeNotRecorded()) policy_.RemoveRecorded(range);
  for (const RecordedSegments::Recorded& recorded : segments_.TakeNotAskedFor()) {
    const Bytes size = recorded.range.size;
    const bool expands = kind_ == PolicyKind::kTorchExpandable;
    const bool is_small = expands ? size % policy_.heap().settings().large_segment != 0
                                  : size == TorchSettings::kSmallSegment;
    AddMapped(recorded, pool, is_small);
  }
}

void AsRecorded::AddMapped(const RecordedSegments::Recorded& recorded, uint32_t pool,
                           bool is_small) {
  policy_.AddRecorded(recorded.range, recorded.stream, pool, is_small,
                      kind_ == PolicyKind::kTorchExpandable);
  static_cast<void>(segments_.TakeNotRecorded());  // the heap tells of this one, too
}

// A block whose free was lost.
void AsRecorded::Forget(uint64_t address) {
  CompleteFree(address);
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  policy_.Free(found->second);
  live_.erase(found);
}

}  // namespace memtrace::replay
