// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_HEAP_HEAP_PARTS_H_
#define MEMTRACE_TESTS_ALLOCATOR_HEAP_HEAP_PARTS_H_

#include <gtest/gtest.h>

#include <variant>

#include "allocator/blocks/size_policy.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/device_heap.h"
#include "allocator/pools/quick_groups.h"
#include "base/units.h"

namespace memtrace {

// The heap of a card of 64 MiB, and its parts, as if one thread held all of its locks.
class HeapParts : public testing::Test {
 protected:
  static constexpr StreamId kMain{1};
  static constexpr StreamId kSide{2};
  static constexpr PoolId kPool{0, 7};

  DeviceAddress Allocate(Bytes bytes, StreamId stream = kMain) {
    AllocationResult result =
        heap_.Allocate({.bytes = bytes, .stream = stream}, RoundedSize(bytes));
    const auto* address = std::get_if<DeviceAddress>(&result);
    EXPECT_NE(address, nullptr) << "out of memory";
    return address == nullptr ? DeviceAddress{} : *address;
  }
  // Does the same in a private pool.
  DeviceAddress AllocateIn(const PoolId& pool, Bytes bytes, StreamId stream = kMain) {
    if (heap_.pools().Find(pool) == nullptr) heap_.pools().Retain(pool);
    EXPECT_TRUE(heap_.pools().BeginRouting(pool, [](StreamId) { return true; }).ok());
    const DeviceAddress address = Allocate(bytes, stream);
    EXPECT_TRUE(heap_.pools().EndRouting(pool).ok());
    return address;
  }
  void Free(DeviceAddress address) { EXPECT_TRUE(heap_.Free(address).ok()); }
  SegmentGroup& Group(StreamId stream = kMain, bool small = false, const PoolId& pool = {}) {
    return heap_.groups().Of({stream, pool, small}, heap_.pools().Find(pool));
  }
  // Returns the block in use that begins at `address`.
  Block* BlockAt(DeviceAddress address) {
    SegmentGroup* owner = heap_.groups().OwnerOf(address);
    return owner == nullptr ? nullptr : owner->blocks().Find(address);
  }
  // Queues work on `stream` that uses the block.
  Block* Share(DeviceAddress address, StreamId stream) {
    streams_.Queue(stream);
    EXPECT_TRUE(heap_.RecordStream(address, stream).ok());
    return BlockAt(address);
  }

  CallFailures failures_;
  MemoryStreams streams_{&failures_};
  MemoryVmm vmm_{{.capacity = 64_MiB}, &streams_, &failures_};
  AllocationObserver silent_;
  QuickGroups quick_;
  DeviceHeap heap_{{.captures = &streams_}, vmm_, streams_, silent_, quick_};
};

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_ALLOCATOR_HEAP_HEAP_PARTS_H_
