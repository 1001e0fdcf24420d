// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_ANALYSIS_REPLAY_TORCH_HEAP_PARTS_H_
#define MEMTRACE_TESTS_TOOLS_ANALYSIS_REPLAY_TORCH_HEAP_PARTS_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "tools/analysis/replay/segment_addresses.h"
#include "tools/analysis/replay/torch/torch_heap.h"

namespace memtrace::replay {

inline constexpr StreamId kStream{0};
inline constexpr StreamId kOther{7};

// Returns "5M", or bytes if the size is not a whole number of MiB.
inline std::string SizeText(Bytes size) {
  return size % 1_MiB == 0 ? std::to_string(size >> 20) + "M" : std::to_string(size);
}

// Returns the blocks of a segment: "used 2M, free 18M".
inline std::string Contents(const TorchSegment& segment) {
  std::string text;
  for (const TorchBlock* block = segment.first; block != nullptr; block = block->behind) {
    if (!text.empty()) text += ", ";
    switch (block->state) {
      case TorchBlock::State::kFree:
        text += "free ";
        break;
      case TorchBlock::State::kInUse:
        text += "used ";
        break;
      case TorchBlock::State::kUnmapped:
        text += "unmapped ";
        break;
    }
    text += SizeText(block->size);
  }
  return text;
}

// A driver that returns ascending addresses and remembers what it gave and got back.
class AscendingAddresses : public SegmentAddresses {
 public:
  DeviceAddress ForSegment(Bytes size, StreamId /*stream*/) override { return Unused(size); }
  DeviceAddress ForReservation(Bytes size, StreamId /*stream*/) override { return Unused(size); }
  bool ContinuesAt(DeviceAddress /*end*/) override { return goes_on; }
  void Mapped(const AddressRange& range) override { mapped.push_back(SizeText(range.size())); }
  void Released(const AddressRange& segment) override {
    released.push_back(SizeText(segment.size()));
  }

  bool goes_on = true;
  std::vector<std::string> mapped;
  std::vector<std::string> released;
};

// A heap, and a small language for its contents.
class TorchHeapParts : public testing::Test {
 protected:
  explicit TorchHeapParts(const TorchSettings& settings = {})
      : settings_(settings), heap_(settings_, addresses_) {}
  explicit TorchHeapParts(const char* settings) : TorchHeapParts(TorchSettings::Parse(settings)) {}
  ~TorchHeapParts() override { heap_.CheckInvariants(); }

  TorchLane& Large(StreamId stream = kStream, uint32_t pool = 0) {
    return heap_.lanes().At(pool, /*is_small=*/false, stream);
  }
  TorchLane& Small(StreamId stream = kStream) {
    return heap_.lanes().At(0, /*is_small=*/true, stream);
  }
  // Makes a segment, all of which is in use.
  TorchBlock& UseSegment(TorchLane& lane, Bytes size) {
    TorchBlock* block = heap_.AddSegment(lane, AddressRange::Of(addresses_.Unused(size), size));
    block->state = TorchBlock::State::kInUse;
    return *block;
  }
  // Makes a segment, all of which is free.
  TorchBlock& FreeSegment(TorchLane& lane, Bytes size) {
    TorchBlock& block = UseSegment(lane, size);
    heap_.Free(block);
    return block;
  }
  // Makes chunks of a new reservation, all of which are free. The usual size has a name, because
  // clang 14 takes no literal operator as a default argument.
  static constexpr Bytes kUsualChunk = 20_MiB;
  TorchBlock& FreeChunks(TorchLane& lane, Bytes size, Bytes reservation,
                         Bytes chunk = kUsualChunk) {
    TorchBlock* unmapped = heap_.AddReservation(
        lane, AddressRange::Of(addresses_.Unused(reservation), reservation), chunk);
    return *heap_.Map(*unmapped, AddressRange::Of(unmapped->address, size));
  }
  // Takes `size` bytes at `offset` of a free block's segment.
  TorchBlock& Use(TorchBlock& of, Bytes offset, Bytes size) {
    TorchBlock* block = heap_.Carve(of.segment->base + offset, size);
    EXPECT_NE(block, nullptr);
    heap_.Use(*block, size);
    return *block;
  }
  std::vector<std::string> Segments() const {
    std::vector<std::string> texts;
    heap_.segments().ForEach(
        [&texts](const TorchSegment& segment) { texts.push_back(Contents(segment)); });
    return texts;
  }

  const TorchSettings settings_;
  AscendingAddresses addresses_;
  TorchHeap heap_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TESTS_TOOLS_ANALYSIS_REPLAY_TORCH_HEAP_PARTS_H_
