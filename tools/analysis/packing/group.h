// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_GROUP_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_GROUP_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/units.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {

// A group of items that is packed alone, at first by FillSkyline() in every order; Improve() then
// spends steps on finding a lower packing.
class GroupPacking {
 public:
  // `items` outlive the packing.
  explicit GroupPacking(absl::Span<const SectionItem> items, uint64_t& steps);

  // Stops when the height is at most `target`, when no lower one exists, or when the steps are used
  // up. Subtracts what it used from `steps`.
  void Improve(Bytes target, uint64_t& steps);

  const std::vector<Bytes>& offsets() const { return offsets_; }  // by the index of an item
  Bytes height() const { return height_; }
  // A proven lower bound of the height.
  Bytes least_height() const { return least_height_; }

 private:
  enum class Answer { kFits, kImpossible, kUnknown };

  void FillInOrders(uint64_t& steps);
  void FillAndPromote(Bytes target, uint64_t& steps);
  void Bisect(Bytes target, uint64_t& steps);
  Answer CanFit(Bytes capacity, uint64_t& steps);
  void Keep(std::vector<Bytes> offsets);

  absl::Span<const SectionItem> items_;
  std::vector<Bytes> offsets_;
  Bytes height_;
  Bytes least_height_;
  Bytes unit_ = 0;           // all sizes, so all heights, are multiples of it
  uint64_t look_steps_ = 0;  // to look at each item in each of its sections
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_GROUP_H_
