// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_policy.h"

namespace memtrace::replay {

TorchPolicy::TorchPolicy(const Options& options, SegmentAddresses* addresses)
    : settings_(options.settings),
      heap_(options.settings, addresses == nullptr ? driver_ : *addresses),
      growth_(options, heap_, addresses == nullptr ? driver_ : *addresses) {}

std::optional<Placed> TorchPolicy::Allocate(const Request& request) {
  if (request.bytes > kMostBytes) return std::nullopt;
  const Bytes rounded = settings_.Rounded(request.bytes);
  TorchLane& lane = heap_.lanes().Of(request);
  if (collects_garbage()) ++lane.pool->searches;
  TorchBlock* block = heap_.lanes().Find(lane, rounded);
  if (block != nullptr) {
    heap_.lanes().TakeOut(*block);
  } else {
    block = Grow(lane, rounded);
  }
  if (block == nullptr) return std::nullopt;
  return blocks_.Use(*block, rounded);
}

void TorchPolicy::Free(BlockNumber block) {
  RequestFree(block);
  CompleteFree(block);
}

void TorchPolicy::RequestFree(BlockNumber block) { blocks_.RequestFree(block); }

void TorchPolicy::CompleteFree(BlockNumber block) { blocks_.CompleteFree(block); }

// Waits first for everything that waits for streams.
void TorchPolicy::EmptyCache() {
  blocks_.FreeWaiting();
  cache_.Empty();
}

// Tries in torch's order: garbage, the driver, blocks that are large enough to be kept apart, then
// the whole cache.
TorchBlock* TorchPolicy::Grow(TorchLane& lane, Bytes rounded) {
  if (collects_garbage()) CollectGarbage();
  TorchBlock* block = growth_.Extend(lane, rounded);
  if (block == nullptr && cache_.ReleaseOversize(lane, rounded)) {
    block = growth_.Extend(lane, rounded);
  }
  if (block != nullptr) return block;
  EmptyCache();
  return growth_.Extend(lane, rounded);
}

bool TorchPolicy::collects_garbage() const {
  return settings_.gc_threshold > 0 && growth_.limit() != TorchGrowth::kNoLimit;
}

void TorchPolicy::CollectGarbage() {
  cache_.CollectGarbage(
      static_cast<Bytes>(settings_.gc_threshold * static_cast<double>(growth_.limit())));
}

DriverCalls TorchPolicy::calls() const {
  const TorchGrowth::Calls& made = growth_.calls();
  if (!settings_.expands) {
    return {{"cudaMalloc", made.allocations + made.failed}, {"cudaFree", cache_.frees()}};
  }
  return {{"cuMemAddressReserve", heap_.segments().reservations()},
          {"cuMemAddressFree", heap_.segments().reservations_given_up()},
          {"cuMemCreate", made.creates + made.failed},
          {"cuMemMap", made.creates},
          {"cuMemSetAccess", made.accesses},
          {"cuMemUnmap", cache_.unmaps()},
          {"cuMemRelease", cache_.unmaps()}};
}

}  // namespace memtrace::replay
