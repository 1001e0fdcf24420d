// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_LABEL_RANGES_H_
#define MEMTRACE_PROFILER_TRACE_READING_LABEL_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "profiler/trace/events/label.h"

namespace memtrace::trace {

struct LabelledRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  Label label;
};

// The labels of one card's memory by address. The latest statement wins, field by field; ranges
// split where statements overlap:
//
//   State [0, 100) parameter;  State [40, 60) gradient
//   ->  [0, 40) parameter  [40, 60) gradient  [60, 100) parameter
class LabelRanges {
 public:
  void State(uint64_t begin, uint64_t end, const Label& label);

  // Appends the labelled parts of [begin, end), in order, clipped to it.
  void AppendTo(std::vector<LabelledRange>& ranges, uint64_t begin, uint64_t end) const;

  bool empty() const { return pieces_.empty(); }
  size_t size() const { return pieces_.size(); }
  // True if any part of [begin, end) is labelled.
  bool HasAny(uint64_t begin, uint64_t end) const;

  // Forgets the labels of [begin, end), because its block is gone.
  void Forget(uint64_t begin, uint64_t end);

 private:
  struct Piece {
    uint64_t end = 0;
    Label label;
  };
  using Pieces = absl::btree_map<uint64_t, Piece>;  // by begin; disjoint

  void SplitAt(uint64_t address);

  Pieces pieces_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_LABEL_RANGES_H_
