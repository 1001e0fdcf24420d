// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/recorded_torch.h"

namespace memtrace::replay {

bool RecordedTorch::HasFree(const Request& request) {
  TorchLanes& lanes = policy_.heap().lanes();
  return lanes.Find(lanes.Of(request), Rounded(request)) != nullptr;
}

bool RecordedTorch::CanGrow(const Request& request) {
  return policy_.settings().expands && !policy_.heap().lanes().Of(request).unmapped.empty();
}

bool RecordedTorch::GrowsIntoMapped(const Request& request) {
  return policy_.growth().FindsMappedMemory(policy_.heap().lanes().Of(request), Rounded(request));
}

void RecordedTorch::InferPoolSplitting(const Request& request, const AddressRange& block) {
  const Bytes rounded = Rounded(request);
  for (const RecordedSegments::Recorded& segment : segments_.pending()) {
    if (segment.range == block &&
        policy_.settings().Splits(rounded, block.size(), TorchSettings::IsSmall(rounded))) {
      policy_.heap().lanes().Of(request).pool->is_split = false;
    }
  }
}

std::optional<Placed> RecordedTorch::AllocateByGrowth(const Request& request) {
  if (request.bytes > TorchPolicy::kMostBytes) return std::nullopt;
  const Bytes rounded = Rounded(request);
  TorchBlock* block = policy_.growth().Extend(policy_.heap().lanes().Of(request), rounded);
  if (block == nullptr) return std::nullopt;
  return policy_.blocks().Use(*block, rounded);
}

std::optional<Placed> RecordedTorch::AllocateAt(const Request& request, DeviceAddress address,
                                                std::optional<Bytes> occupied) {
  const Bytes rounded = occupied.value_or(Rounded(request));
  if (rounded == 0) return std::nullopt;
  TorchBlock* block = policy_.heap().Carve(address, rounded);
  if (block == nullptr) return std::nullopt;
  return policy_.blocks().Use(*block, rounded);
}

void RecordedTorch::AddMappingOf(const Request& request, DeviceAddress address) {
  const auto mapped = segments_.TakeAt(address);
  if (mapped) Add(*mapped, request.pool, TorchSettings::IsSmall(Rounded(request)));
}

void RecordedTorch::Settle(uint32_t pool) {
  if (segments_.is_settled()) return;
  for (const AddressRange& range : segments_.TakeUnrecorded()) policy_.cache().Release(range);
  const TorchSettings& settings = policy_.settings();
  for (const RecordedSegments::Recorded& recorded : segments_.TakeUnrequested()) {
    const Bytes size = recorded.range.size();
    const bool is_small = settings.expands ? size % settings.large_segment != 0
                                           : size == TorchSettings::kSmallSegment;
    Add(recorded, pool, is_small);
  }
}

void RecordedTorch::Add(const RecordedSegments::Recorded& recorded, uint32_t pool, bool is_small) {
  TorchLane& lane = policy_.heap().lanes().At(pool, is_small, recorded.stream);
  policy_.growth().AddAt(lane, recorded.range);
  static_cast<void>(segments_.TakeUnrecorded());  // the heap also reports this one
}

}  // namespace memtrace::replay
