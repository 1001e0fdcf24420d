// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_VISIT_MARKS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_VISIT_MARKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::analysis {

// One of the times that a program comes to a place.
struct Visit {
  uint64_t number = 0;  // counted from 1
  uint64_t event = 0;   // ordinal of the event with which it begins
  uint64_t in_use = 0;  // requested bytes just before, on all cards

  bool operator==(const Visit&) const = default;
};

// Counts visits and remembers some of them: the first and the last few, and some evenly between
// them. Takes less than 2 KiB, however many there are.
class VisitMarks {
 public:
  void Add(uint64_t event, uint64_t in_use);

  uint64_t count() const { return count_; }

  // Returns the remembered visits that begin with event `end` or before, oldest first.
  std::vector<Visit> Until(uint64_t end) const;

 private:
  static constexpr size_t kFirst = 4;
  static constexpr size_t kLast = 8;
  static constexpr size_t kMostSpread = 32;

  uint64_t count_ = 0;
  uint64_t stride_ = 1;              // a power of two
  std::vector<Visit> spread_;        // the first, and each stride_-th
  std::array<Visit, kLast> last_{};  // by number modulo kLast
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_VISIT_MARKS_H_
