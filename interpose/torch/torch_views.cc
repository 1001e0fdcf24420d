// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/torch_views.h"

#include <algorithm>

namespace memtrace::shim {
namespace {

void Copy(c10::CachingDeviceAllocator::StatArray& to, const memtrace_statistic (&from)[3]) {
  for (size_t pool = 0; pool < 3; ++pool) {
    to[pool].current = from[pool].current;
    to[pool].peak = from[pool].peak;
    to[pool].allocated = from[pool].allocated;
    to[pool].freed = from[pool].freed;
  }
}

BlockInfo ToTorch(const memtrace_block& block) {
  BlockInfo info;
  info.size = block.bytes;
  info.requested_size = block.requested;
  info.allocated = block.state == MEMTRACE_BLOCK_ALLOCATED;
  info.active = block.state != MEMTRACE_BLOCK_FREE;
  return info;
}

}  // namespace

c10::CachingDeviceAllocator::DeviceStats ToTorch(const memtrace_statistics& statistics) {
  c10::CachingDeviceAllocator::DeviceStats stats;
  Copy(stats.allocation, statistics.by_kind[MEMTRACE_ALLOCATION]);
  Copy(stats.segment, statistics.by_kind[MEMTRACE_SEGMENT]);
  Copy(stats.active, statistics.by_kind[MEMTRACE_ACTIVE]);
  Copy(stats.inactive_split, statistics.by_kind[MEMTRACE_INACTIVE_SPLIT]);
  Copy(stats.allocated_bytes, statistics.by_kind[MEMTRACE_ALLOCATED_BYTES]);
  Copy(stats.reserved_bytes, statistics.by_kind[MEMTRACE_RESERVED_BYTES]);
  Copy(stats.active_bytes, statistics.by_kind[MEMTRACE_ACTIVE_BYTES]);
  Copy(stats.inactive_split_bytes, statistics.by_kind[MEMTRACE_INACTIVE_SPLIT_BYTES]);
  Copy(stats.requested_bytes, statistics.by_kind[MEMTRACE_REQUESTED_BYTES]);
  stats.num_alloc_retries = statistics.num_alloc_retries;
  stats.num_ooms = statistics.num_ooms;
  stats.num_sync_all_streams = statistics.num_sync_all_streams;
  stats.num_device_alloc = statistics.num_device_alloc;
  stats.num_device_free = statistics.num_device_free;
  return stats;
}

SegmentInfo ToTorch(const memtrace_segment& segment) {
  SegmentInfo info;
  info.device = static_cast<c10::DeviceIndex>(segment.device);
  info.address = segment.address;
  info.total_size = segment.bytes;
  info.stream = static_cast<decltype(info.stream)>(reinterpret_cast<void*>(segment.stream));
  info.is_large = segment.small == 0;
  info.is_expandable = segment.expandable != 0;
  info.owner_private_pool_id = {segment.pool.first, segment.pool.second};
  for (uint64_t i = 0; i < segment.block_count; ++i) {
    const auto block = ToTorch(segment.blocks[i]);
    info.requested_size += block.active ? block.requested_size : 0;
    info.allocated_size += block.allocated ? block.size : 0;
    info.active_size += block.active ? block.size : 0;
    info.blocks.push_back(block);
  }
  return info;
}

void VisitSegments(c10::DeviceIndex device,
                   const std::function<void(const memtrace_segment&)>& visit) {
  memtrace_visit_segments(
      device,
      [](void* user, const memtrace_segment* segment) {
        (*static_cast<const std::function<void(const memtrace_segment&)>*>(user))(*segment);
      },
      const_cast<std::function<void(const memtrace_segment&)>*>(&visit));
}

uint64_t FreeInPrivatePools(c10::DeviceIndex device) {
  uint64_t free = 0;
  VisitSegments(device, [&](const memtrace_segment& segment) {
    if (segment.pool.first == 0 && segment.pool.second == 0) return;
    for (uint64_t i = 0; i < segment.block_count; ++i) {
      if (segment.blocks[i].state == MEMTRACE_BLOCK_FREE) free += segment.blocks[i].bytes;
    }
  });
  return free;
}

size_t LargestFreeBlock(c10::DeviceIndex device) {
  size_t largest = 0;
  VisitSegments(device, [&](const memtrace_segment& segment) {
    for (uint64_t i = 0; i < segment.block_count; ++i) {
      const memtrace_block& block = segment.blocks[i];
      if (block.state == MEMTRACE_BLOCK_FREE) largest = std::max<size_t>(largest, block.bytes);
    }
  });
  return largest;
}

}  // namespace memtrace::shim
