// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BUSY_TIME_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BUSY_TIME_H_

#include <cstddef>
#include <cstdint>
#include <map>

namespace memtrace::analysis {

// The time during which at least one of many intervals ran. They come nearly in order: what is
// kMost intervals behind is settled, and an interval that comes later counts from there on.
class BusyTime {
 public:
  static constexpr size_t kMost = 1024;

  void Add(uint64_t begin, uint64_t end);
  uint64_t total() const { return total_; }

 private:
  std::map<uint64_t, uint64_t> intervals_;  // disjoint; end by begin
  uint64_t settled_until_ = 0;
  uint64_t total_ = 0;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BUSY_TIME_H_
