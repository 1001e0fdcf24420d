// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUESSED_SEGMENTS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUESSED_SEGMENTS_H_

#include <cstdint>
#include <functional>
#include <map>

#include "profiler/trace/events/event.h"

namespace memtrace::interchange {

// Guesses where the segments of one card lie, for a record that only says how large they are
// together.
//
// torch takes a segment when a block fits nowhere, and puts that block at its beginning; an
// expandable one grows at its end. So memory that is reserved with an allocation begins at the
// block, or where the segment around it ends. Memory that is given back is some segments without a
// block in them; which ones is not known. The sum is always as recorded; memory that finds no place
// lies far from all blocks.
//
// It has its own map of blocks, for the ranges that are in use: analysis::BlockLives keeps no ends.
class GuessedSegments {
 public:
  using Visit = std::function<void(const trace::Payload&)>;

  explicit GuessedSegments(int32_t device) : device_(device) {}

  // Must be called before the block's own event. `reserved` is the sum at that moment.
  void Allocate(uint64_t address, uint64_t bytes, uint64_t reserved, const Visit& visit);
  void Free(uint64_t address, uint64_t reserved, const Visit& visit);

 private:
  void Settle(uint64_t address, uint64_t reserved, const Visit& visit);
  void Grow(uint64_t address, uint64_t bytes, const Visit& visit);
  void Shrink(uint64_t bytes, const Visit& visit);
  bool IsEmpty(uint64_t begin, uint64_t end) const;
  bool IsUnmapped(uint64_t begin, uint64_t end) const;

  int32_t device_;
  uint64_t sum_ = 0;
  uint64_t far_ = 0;                       // bytes of the sum that have no place
  std::map<uint64_t, uint64_t> segments_;  // begin -> end
  std::map<uint64_t, uint64_t> blocks_;    // alive: begin -> end
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUESSED_SEGMENTS_H_
