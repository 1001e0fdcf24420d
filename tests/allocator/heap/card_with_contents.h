// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_HEAP_CARD_WITH_CONTENTS_H_
#define MEMTRACE_TESTS_ALLOCATOR_HEAP_CARD_WITH_CONTENTS_H_

#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "allocator/card/memory_copies.h"
#include "tests/allocator/card.h"

namespace memtrace {

// A card, and a host with memory for copies. The contents of a block are the number that was
// written into it.
struct CardWithContents {
  // `located`: the bytes of the host that chunks may lie in; `limits`: what the allocator may do.
  CardWithContents(Bytes capacity, Bytes host, Bytes located, HeapOptions limits)
      : streams(&failures),
        vmm({.capacity = capacity, .host = located, .contents = &contents}, &streams, &failures),
        copies(vmm, contents, host, &failures),
        allocator(WithParts(std::move(limits)), vmm, streams, observer) {}

  AllocationResult TryAllocate(Bytes bytes, MovableOwner owner, StreamId stream = kMain) {
    AllocationResult result = allocator.Allocate({.bytes = bytes,
                                                  .stream = stream,
                                                  .is_not_free = owner != MovableOwner{},
                                                  .movable = owner});
    allocator.CheckInvariants();
    if (const auto* address = std::get_if<DeviceAddress>(&result))
      vmm.NoteUse(*address, bytes, streams.Queue(stream));
    return result;
  }
  void FreeBlock(DeviceAddress address) {
    EXPECT_TRUE(allocator.Free(address).ok());
    allocator.CheckInvariants();
  }
  AllocatorLedger Ledger() { return allocator.accounts().ledger(); }

  CallFailures failures;
  MemoryStreams streams;
  MemoryContents contents;
  MemoryVmm vmm;
  MemoryCopies copies;
  WritingObserver observer;
  CachingAllocator allocator;

 private:
  HeapOptions WithParts(HeapOptions options) {
    options.captures = &streams;
    options.copies = &copies;
    return options;
  }
};

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_ALLOCATOR_HEAP_CARD_WITH_CONTENTS_H_
