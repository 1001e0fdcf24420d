// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_MAPPED_RANGES_H_
#define MEMTRACE_PROFILER_TRACE_READING_MAPPED_RANGES_H_

#include <cstdint>
#include <functional>

#include "absl/container/btree_map.h"

namespace memtrace::trace {

// The address ranges of one card that have physical memory.
class MappedRanges {
 public:
  void Map(uint64_t address, uint64_t size);
  void Unmap(uint64_t address, uint64_t size);

  bool Contains(uint64_t address) const;
  bool Covers(uint64_t address, uint64_t size) const;  // all of it
  uint64_t bytes() const { return bytes_; }
  uint64_t most_bytes() const { return most_bytes_; }  // of all moments so far
  // Visits disjoint ranges in order of address; adjacent ranges are joined.
  void ForEach(const std::function<void(uint64_t begin, uint64_t end)>& visit) const;

 private:
  absl::btree_map<uint64_t, uint64_t> ranges_;  // begin -> end
  uint64_t bytes_ = 0;
  uint64_t most_bytes_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_MAPPED_RANGES_H_
