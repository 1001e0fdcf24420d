// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_BLOCK_CHECK_H_
#define MEMTRACE_INTERPOSE_BENCH_BLOCK_CHECK_H_

#include <cstdint>
#include <map>

#include "interpose/bench/card_driver.h"

namespace memtrace::bench {

// Judges the memory that an allocator returns: it must be aligned, of the card, and not part of a
// block in use.
class BlockCheck {
 public:
  explicit BlockCheck(const CardDriver& card) : card_(card) {}

  // Returns "", or the fault: "misaligned", "overlapping" or "not_on_card".
  const char* Took(void* address, uint64_t bytes);
  void Freed(void* address) { ends_.erase(reinterpret_cast<uintptr_t>(address)); }

 private:
  static constexpr uintptr_t kAlignment = 256;  // of cudaMalloc, by CUDA's programming guide

  const CardDriver& card_;
  std::map<uintptr_t, uintptr_t> ends_;  // of blocks in use, by their address
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_BLOCK_CHECK_H_
