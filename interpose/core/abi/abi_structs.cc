// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/abi/abi_structs.h"

#include <algorithm>
#include <cstring>

namespace memtrace {
namespace {

memtrace_block View(const BlockView& block) {
  return {block.address.value(), block.size, block.requested, static_cast<int32_t>(block.state)};
}

}  // namespace

void Copy(memtrace_statistic (&to)[3], const StatisticByPool& from) {
  const Statistic* pools[] = {&from.all, &from.small_pool, &from.large_pool};
  for (size_t i = 0; i < 3; ++i) {
    to[i] = {pools[i]->current, pools[i]->peak, pools[i]->allocated, pools[i]->freed};
  }
}

memtrace_statistics ToAbi(const Statistics& from) {
  memtrace_statistics to{};
  Copy(to.by_kind[MEMTRACE_ALLOCATION], from.allocation);
  Copy(to.by_kind[MEMTRACE_SEGMENT], from.segment);
  Copy(to.by_kind[MEMTRACE_ACTIVE], from.active);
  Copy(to.by_kind[MEMTRACE_INACTIVE_SPLIT], from.inactive_split);
  Copy(to.by_kind[MEMTRACE_ALLOCATED_BYTES], from.allocated_bytes);
  Copy(to.by_kind[MEMTRACE_RESERVED_BYTES], from.reserved_bytes);
  Copy(to.by_kind[MEMTRACE_ACTIVE_BYTES], from.active_bytes);
  Copy(to.by_kind[MEMTRACE_INACTIVE_SPLIT_BYTES], from.inactive_split_bytes);
  Copy(to.by_kind[MEMTRACE_REQUESTED_BYTES], from.requested_bytes);
  to.num_alloc_retries = from.num_alloc_retries;
  to.num_ooms = from.num_ooms;
  to.num_sync_all_streams = from.num_sync_all_streams;
  to.num_device_alloc = from.num_device_alloc;
  to.num_device_free = from.num_device_free;
  return to;
}

memtrace_out_of_memory ToAbi(const OutOfMemoryEvent& from) {
  memtrace_out_of_memory to{};
  to.device = static_cast<int32_t>(from.device);
  to.requested = from.requested;
  to.allocated = from.allocated;
  to.obtainable = from.obtainable;
  to.limit = from.limit;
  to.device_free = from.device_free;
  to.device_total = from.device_total;
  to.live_allocated = from.ledger.live_allocated;
  to.reserved = from.ledger.reserved;
  to.is_rejected = from.is_rejected ? 1 : 0;
  return to;
}

std::vector<memtrace_block> ToAbi(const std::vector<BlockView>& from) {
  std::vector<memtrace_block> to(from.size());
  std::transform(from.begin(), from.end(), to.begin(), View);
  return to;
}

memtrace_segment ToAbi(int device, const SegmentView& from,
                       const std::vector<memtrace_block>& blocks) {
  return {.size = sizeof(memtrace_segment),
          .device = device,
          .address = from.address.value(),
          .bytes = from.size,
          .stream = static_cast<uint64_t>(from.stream),
          .small = from.small ? 1 : 0,
          .block_count = blocks.size(),
          .blocks = blocks.data(),
          .pool = {from.pool.first, from.pool.second},
          .expandable = from.expandable ? 1 : 0};
}

OutOfMemoryEvent FromAbi(const memtrace_observed_out_of_memory& from) {
  OutOfMemoryEvent to;
  to.device = DeviceIndex{from.device};
  to.requested = from.requested;
  to.allocated = RoundUp(from.requested, 512);
  to.limit = from.limit;
  to.device_free = from.device_free;
  to.device_total = from.device_total;
  to.context = ContextId{from.context};
  return to;
}

void CopyExplanation(memtrace_out_of_memory& to, std::string_view text) {
  if (text.size() >= sizeof(to.explanation)) {
    text = text.substr(0, sizeof(to.explanation) - 1);
    text = text.substr(0, std::min(text.size(), text.rfind('\n')));
  }
  std::memcpy(to.explanation, text.data(), text.size());
  to.explanation[text.size()] = '\0';
}

}  // namespace memtrace
