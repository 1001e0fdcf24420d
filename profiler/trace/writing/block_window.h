// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_BLOCK_WINDOW_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_BLOCK_WINDOW_H_

#include <cstdint>

#include "profiler/trace/coding/format.h"

namespace memtrace::trace {

// The blocks at the end of a growing file that are mapped (MAP_SHARED). The file's writer moves it
// on when its last block has been handed out:
//
//   file:     | beginning | b0 ... b15 | b16 ... b31 |
//   window:                              ^ offset_
//
// Thread rule: one thread at a time.
class BlockWindow {
 public:
  // Each move costs two system calls, about 30 us; with 16 blocks there is one in some 80,000
  // events.
  static constexpr uint64_t kBytes = 16 * kBlockBytes;

  BlockWindow() = default;
  ~BlockWindow() { Unmap(); }
  BlockWindow(const BlockWindow&) = delete;
  BlockWindow& operator=(const BlockWindow&) = delete;

  // Moves the window to [offset, offset + kBytes) of the file, which must be allocated on disk.
  // Returns false if it cannot be mapped; then the window stays where it is.
  bool MoveTo(int fd, uint64_t offset);

  // True if the block at this offset of the file is in the window.
  bool Contains(uint64_t offset) const {
    return pages_ != nullptr && offset >= offset_ && offset - offset_ < kBytes;
  }
  // REQUIRES: Contains(offset).
  uint8_t* At(uint64_t offset) const { return pages_ + (offset - offset_); }

  // Unmaps the blocks; the file keeps what was stored in them.
  void Unmap();

 private:
  uint8_t* pages_ = nullptr;
  uint64_t offset_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_BLOCK_WINDOW_H_
