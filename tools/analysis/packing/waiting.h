// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_WAITING_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_WAITING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {

// The items that have no offset yet, searched by their place in time: a k-d tree over (first, last)
// whose nodes know the lowest rank below them.
class WaitingItems {
 public:
  // `ranks` are a permutation of 0 .. items.size() - 1.
  WaitingItems(absl::Span<const SectionItem> items, absl::Span<const uint32_t> ranks);

  // Returns the index of the item of lowest rank that is alive only in sections of [first, last).
  std::optional<uint32_t> LowestRankWithin(Section first, Section last) const;
  void Remove(uint32_t index);

 private:
  struct Entry {
    Section first;
    Section last;
    uint32_t rank;
    uint32_t index;
  };
  // Bounds of all entries below, including removed ones.
  struct Node {
    Section lowest_first;
    Section highest_first;
    Section lowest_last;
    Section highest_last;
    uint32_t lowest_rank;
  };

  void Build(uint32_t node, std::vector<Entry>::iterator begin, std::vector<Entry>::iterator end,
             bool by_first);
  void Seek(uint32_t node, Section first, Section last, uint32_t& lowest_rank) const;

  std::vector<Node> nodes_;      // the halves of node i are 2i + 1 and 2i + 2
  std::vector<uint32_t> leaf_;   // of an item, by index
  std::vector<uint32_t> index_;  // of an item, by rank
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_WAITING_H_
