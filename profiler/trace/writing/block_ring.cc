// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/block_ring.h"

#include "profiler/trace/coding/format.h"

namespace memtrace::trace {

BlockRing::BlockRing(uint64_t begin, uint64_t limit)
    : end_(begin), limit_(limit), capacity_((limit - begin) / kBlockBytes), events_(capacity_) {}

uint64_t BlockRing::Next(bool stays) {
  const bool is_full = end_ + kBlockBytes > limit_;
  const uint64_t offset = is_full ? PopOldest() : end_;
  if (!is_full) end_ += kBlockBytes;
  if (stays) {
    ++definitions_;
  } else {
    Push(offset);
  }
  return offset;
}

void BlockRing::Push(uint64_t offset) { events_[(oldest_ + count_++) % events_.size()] = offset; }

uint64_t BlockRing::PopOldest() {
  const uint64_t offset = events_[oldest_];
  oldest_ = (oldest_ + 1) % events_.size();
  --count_;
  return offset;
}

}  // namespace memtrace::trace
