// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/gpu_books.h"

#include <algorithm>

namespace memtrace::bench {
namespace {

constexpr uint64_t kGranule = 2ull << 20;  // of the driver's memory on all GPUs so far

}  // namespace

bool GpuBooks::Bound(uint64_t bytes) {
  const uint64_t free = driver_.FreeBytes();
  if (free == 0 || bytes > free) return false;
  if (bytes > 0 && !TakeBallast(free - bytes)) return false;
  free_ = driver_.FreeBytes();
  return true;
}

// Takes the ballast in as few blocks as the driver has room for. The process keeps it to its end.
bool GpuBooks::TakeBallast(uint64_t bytes) {
  uint64_t left = bytes / kGranule * kGranule;
  for (uint64_t block = left; left > 0 && block > 0;) {
    block = std::min(block, left);
    if (driver_.Allocate(block) != nullptr) {
      left -= block;
    } else {
      block = block / 2 / kGranule * kGranule;
    }
  }
  return left == 0;
}

uint64_t GpuBooks::InUse() const {
  const uint64_t free = driver_.FreeBytes();
  return free_ > free ? free_ - free : 0;
}

void GpuBooks::Note() { peak_ = std::max(peak_, InUse()); }

}  // namespace memtrace::bench
