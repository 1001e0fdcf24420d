// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_CARD_H_
#define MEMTRACE_TESTS_ALLOCATOR_CARD_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "allocator/card/call_failures.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"

namespace memtrace {

inline constexpr StreamId kMain{1};
inline constexpr StreamId kSide{2};

// Returns "512B", "3KiB" or "20MiB", with the largest unit that divides `size`.
inline std::string SizeText(Bytes size) {
  if (size > 0 && size % 1_MiB == 0) return absl::StrCat(size / 1_MiB, "MiB");
  if (size > 0 && size % 1_KiB == 0) return absl::StrCat(size / 1_KiB, "KiB");
  return absl::StrCat(size, "B");
}

// Records the allocator's events as text: "allocated 512B".
class WritingObserver : public AllocationObserver {
 public:
  void Allocated(const BlockEvent& e) override { Write("allocated ", e.requested); }
  void FreeRequested(const BlockEvent& e) override { Write("free requested ", e.requested); }
  void FreeCompleted(const BlockEvent& e) override { Write("free completed ", e.requested); }
  void Reserved(const RangeEvent& e) override { Write("reserved ", e.size); }
  void Mapped(const RangeEvent& e) override { Write("mapped ", e.size); }
  void Unmapped(const RangeEvent& e) override { Write("unmapped ", e.size); }
  void OutOfMemory(const OutOfMemoryEvent& e) override { Write("out of memory ", e.requested); }

  // Returns the lines since the last call.
  std::vector<std::string> Lines() { return std::exchange(lines_, {}); }

 private:
  void Write(const char* what, Bytes size) { lines_.push_back(what + SizeText(size)); }

  std::vector<std::string> lines_;
};

// A card of `capacity` bytes with an allocator on it, and short functions to use both. Every
// allocation queues work on its stream that touches it, as a kernel would.
class Card {
 public:
  explicit Card(Bytes capacity, const CachingAllocator::Options& options = {})
      : streams(&failures),
        vmm({.capacity = capacity}, &streams, &failures),
        allocator(WithStreams(options), vmm, streams, observer) {}

  AllocationResult TryAllocate(Bytes bytes, StreamId stream = kMain) {
    AllocationResult result = allocator.Allocate(bytes, stream);
    allocator.CheckInvariants();
    if (const auto* address = std::get_if<DeviceAddress>(&result)) Use(*address, bytes, stream);
    return result;
  }
  DeviceAddress Allocate(Bytes bytes, StreamId stream = kMain) {
    return std::get<DeviceAddress>(TryAllocate(bytes, stream));
  }
  std::vector<DeviceAddress> AllocateMany(size_t count, Bytes bytes, StreamId stream = kMain) {
    std::vector<DeviceAddress> blocks(count);
    for (DeviceAddress& block : blocks) block = Allocate(bytes, stream);
    return blocks;
  }
  OutOfMemoryEvent FailToAllocate(Bytes bytes, StreamId stream = kMain) {
    return std::get<OutOfMemoryEvent>(TryAllocate(bytes, stream));
  }
  absl::Status Free(DeviceAddress address) {
    absl::Status status = allocator.Free(address);
    allocator.CheckInvariants();
    return status;
  }
  void Use(DeviceAddress address, Bytes bytes, StreamId stream) {
    vmm.NoteUse(address, bytes, streams.Queue(stream));
  }
  // Does what torch's record_stream is for: `stream` has just been given work on the block.
  absl::Status Share(DeviceAddress address, Bytes bytes, StreamId stream) {
    Use(address, bytes, stream);
    return allocator.RecordStream(address, stream);
  }

  // Returns one line for each mapped range: "1 small: 512B (2096640B)"; free in parentheses,
  // waiting with "?".
  std::vector<std::string> Contents() const {
    std::vector<std::string> lines;
    for (const SegmentView& segment : allocator.Snapshot()) {
      std::string line = absl::StrCat(static_cast<uint64_t>(segment.stream),
                                      segment.small ? " small:" : " large:");
      for (const BlockView& block : segment.blocks) absl::StrAppend(&line, " ", Text(block));
      lines.push_back(line);
    }
    return lines;
  }

  CallFailures failures;
  MemoryStreams streams;
  MemoryVmm vmm;
  WritingObserver observer;
  CachingAllocator allocator;

 private:
  CachingAllocator::Options WithStreams(CachingAllocator::Options options) {
    options.captures = &streams;
    return options;
  }
  static std::string Text(const BlockView& block) {
    std::string size = SizeText(block.size);
    switch (block.state) {
      case BlockView::State::kAllocated:
        return size;
      case BlockView::State::kPendingFree:
        return size + "?";
      case BlockView::State::kFree:
        return absl::StrCat("(", size, ")");
    }
    return {};
  }
};

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_ALLOCATOR_CARD_H_
