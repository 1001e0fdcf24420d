// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_TORCH_VIEWS_H_
#define MEMTRACE_INTERPOSE_TORCH_TORCH_VIEWS_H_

#include <c10/core/CachingDeviceAllocator.h>

#include <functional>

#include "interpose/core/memtrace.h"
#include "versioned_entries.h"

namespace memtrace::shim {

// The C ABI's structs in torch's types.
c10::CachingDeviceAllocator::DeviceStats ToTorch(const memtrace_statistics& statistics);
SegmentInfo ToTorch(const memtrace_segment& segment);

// Visits the card's mapped ranges by ascending address.
void VisitSegments(c10::DeviceIndex device,
                   const std::function<void(const memtrace_segment&)>& visit);

// Bytes that lie free in the card's private pools.
uint64_t FreeInPrivatePools(c10::DeviceIndex device);

// Bytes of the largest free block of the card.
size_t LargestFreeBlock(c10::DeviceIndex device);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_TORCH_VIEWS_H_
