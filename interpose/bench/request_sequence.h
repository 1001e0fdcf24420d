// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_REQUEST_SEQUENCE_H_
#define MEMTRACE_INTERPOSE_BENCH_REQUEST_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::bench {

// An allocation, a free, or the beginning of a step.
struct Request {
  static constexpr uint32_t kStep = ~uint32_t{0};

  uint64_t bytes = 0;   // requested; 0: `block` is freed, or a step begins if it is kStep
  uint32_t block = 0;   // a number that is used again after the block's free
  uint32_t stream = 0;  // 0 for the stream that comes first, and so on; of a free, 0

  bool IsAllocation() const { return bytes != 0; }
  bool IsFree() const { return bytes == 0 && block != kStep; }
};

// The requests of a program for memory of one card, and the frees. Blocks that are never freed live
// to the end.
struct RequestSequence {
  std::vector<Request> requests;
  uint32_t blocks = 0;   // every block has a smaller number
  uint32_t streams = 0;  // every stream has a smaller number

  size_t allocations() const;
};

// Write and read a sequence as a file for a player in another process. Both return false if that
// fails, or if a number is too large for its sequence.
bool WriteRequests(const RequestSequence& sequence, const std::string& path);
bool ReadRequests(const std::string& path, RequestSequence* sequence);

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_REQUEST_SEQUENCE_H_
