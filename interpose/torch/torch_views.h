// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TORCH_VIEWS_H_
#define MEMTRACE_INTERPOSE_TORCH_TORCH_VIEWS_H_

#include <c10/core/CachingDeviceAllocator.h>

#include <functional>

#include "interpose/core/memtrace.h"
#include "versioned_entries.h"

namespace memtrace::shim {

// Conversions of the C ABI's structs to torch's types.
c10::CachingDeviceAllocator::DeviceStats ToTorch(const memtrace_statistics& statistics);
SegmentInfo ToTorch(const memtrace_segment& segment);

// Visits the card's mapped ranges by ascending address.
void VisitSegments(c10::DeviceIndex device,
                   const std::function<void(const memtrace_segment&)>& visit);

// Returns the free bytes in the card's private pools.
uint64_t FreeInPrivatePools(c10::DeviceIndex device);

// Returns the bytes of the card's largest free block.
size_t LargestFreeBlock(c10::DeviceIndex device);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TORCH_VIEWS_H_
